#include "codegen/llvm/environment.h"

namespace farm::codegen {
namespace {

llvm::Type* element_type(Environment& env, DType dtype) {
  llvm::LLVMContext& context = env.module.getContext();
  if (dtype.kind == DTypeKind::BFloat && dtype.bits == 16) return llvm::Type::getBFloatTy(context);
  if (dtype.kind == DTypeKind::Float && dtype.bits == 16) return llvm::Type::getHalfTy(context);
  if (dtype.kind == DTypeKind::Float && dtype.bits == 32) return llvm::Type::getFloatTy(context);
  if (dtype.kind == DTypeKind::Float && dtype.bits == 64) return llvm::Type::getDoubleTy(context);
  const bool whole_bytes = dtype.bits == 8 || dtype.bits == 16 || dtype.bits == 32 || dtype.bits == 64;
  if (dtype.is_int() && (whole_bytes || dtype == kBool)) return llvm::Type::getIntNTy(context, dtype.bits);
  env.report("elements of type " + to_string(dtype) + " have no code yet");
  return llvm::Type::getFloatTy(context);
}

llvm::Type* vector_of(llvm::Type* element, int lanes) {
  return lanes == 1 ? element : llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes));
}

}  // namespace

llvm::Type* value_type(Environment& env, DType dtype, int lanes) { return vector_of(element_type(env, dtype), lanes); }

llvm::Type* memory_type(Environment& env, DType dtype, int lanes) {
  return vector_of(dtype == kBool ? env.ir.getInt8Ty() : element_type(env, dtype), lanes);
}

}  // namespace farm::codegen
