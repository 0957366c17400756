#include "codegen/llvm/math_calls.h"

#include <llvm/IR/Intrinsics.h>

#include <map>

namespace farm::codegen {
namespace {

struct MathFunction {
  llvm::Intrinsic::ID intrinsic;  ///< not_intrinsic: libm only
  size_t arity;
};

const std::map<std::string, MathFunction, std::less<>>& math_functions() {
  using namespace llvm;
  static const std::map<std::string, MathFunction, std::less<>> table = {{"exp", {Intrinsic::exp, 1}},
                                                                         {"log", {Intrinsic::log, 1}},
                                                                         {"pow", {Intrinsic::pow, 2}},
                                                                         {"sqrt", {Intrinsic::sqrt, 1}},
                                                                         {"abs", {Intrinsic::fabs, 1}},
                                                                         {"floor", {Intrinsic::floor, 1}},
                                                                         {"ceil", {Intrinsic::ceil, 1}},
                                                                         {"trunc", {Intrinsic::trunc, 1}},
                                                                         {"round", {Intrinsic::round, 1}},
                                                                         {"fma", {Intrinsic::fma, 3}},
                                                                         {"tanh", {Intrinsic::not_intrinsic, 1}},
                                                                         {"erf", {Intrinsic::not_intrinsic, 1}}};
  return table;
}

/// The function of libm; it is pure, so that calls may be shared and hoisted.
llvm::FunctionCallee libm(Environment& env, const std::string& name, llvm::Type* type, size_t arity) {
  const std::string symbol = type->isFloatTy() ? name + "f" : name;
  auto* signature = llvm::FunctionType::get(type, std::vector<llvm::Type*>(arity, type), false);
  auto callee = env.module.getOrInsertFunction(symbol, signature);
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotThrow();
  function->setDoesNotAccessMemory();
  function->setWillReturn();
  return callee;
}

llvm::Value* call_lane_by_lane(Environment& env, llvm::FunctionCallee callee, llvm::Type* type,
                               const std::vector<llvm::Value*>& args) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (vector == nullptr) return env.ir.CreateCall(callee, args);
  llvm::Value* result = llvm::PoisonValue::get(type);
  for (unsigned lane = 0; lane < vector->getNumElements(); ++lane) {
    std::vector<llvm::Value*> scalars;
    scalars.reserve(args.size());
    for (auto* arg : args) scalars.push_back(env.ir.CreateExtractElement(arg, lane));
    result = env.ir.CreateInsertElement(result, env.ir.CreateCall(callee, scalars), lane);
  }
  return result;
}

}  // namespace

llvm::Value* emit_math_call(Environment& env, const ExprNode& node, const std::vector<llvm::Value*>& args) {
  llvm::Type* type = value_type(env, node.dtype, node.lanes);
  if (node.name == "worker" && args.empty()) return env.worker ? env.worker : llvm::ConstantInt::get(type, 0);
  const auto entry = math_functions().find(node.name);
  const bool real = type->getScalarType()->isFloatTy() || type->getScalarType()->isDoubleTy();
  if (entry == math_functions().end() || entry->second.arity != args.size() || !real) {
    env.report("no code for " + node.name + " of " + std::to_string(args.size()) + " arguments of type " +
               to_string(node.dtype));
    return llvm::PoisonValue::get(type);
  }
  if (entry->second.intrinsic != llvm::Intrinsic::not_intrinsic)
    return env.ir.CreateIntrinsic(type, entry->second.intrinsic, args);
  return call_lane_by_lane(env, libm(env, node.name, type->getScalarType(), args.size()), type, args);
}

}  // namespace farm::codegen
