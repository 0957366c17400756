#include "codegen/llvm/mask.h"

#include <llvm/IR/Constants.h>

#include <numeric>

namespace farm::codegen {
namespace {

bool is_constant(llvm::Value* value, bool wanted) {
  const auto* constant = llvm::dyn_cast_or_null<llvm::Constant>(value);
  return constant != nullptr && (wanted ? constant->isAllOnesValue() : constant->isNullValue());
}

llvm::Value* conjunction(llvm::IRBuilder<>& ir, llvm::Value* a, llvm::Value* b) {
  if (a == nullptr || is_constant(a, true)) return b;
  if (b == nullptr || is_constant(b, true)) return a;
  return ir.CreateAnd(a, b);
}

}  // namespace

bool Mask::never() const { return is_constant(uniform, false) || is_constant(lanes, false); }

Mask both(llvm::IRBuilder<>& ir, const Mask& a, const Mask& b) {
  return {conjunction(ir, a.uniform, b.uniform), conjunction(ir, a.lanes, b.lanes)};
}

Mask opposite(llvm::IRBuilder<>& ir, const Mask& mask) {
  if (mask.lanes == nullptr) return {mask.uniform ? ir.CreateNot(mask.uniform) : ir.getFalse(), nullptr};
  const auto* type = llvm::cast<llvm::FixedVectorType>(mask.lanes->getType());
  return {nullptr, ir.CreateNot(mask_value(ir, mask, static_cast<int>(type->getNumElements())))};
}

Mask lanes_of(llvm::IRBuilder<>& ir, const Mask& mask, int begin, int count) {
  if (mask.lanes == nullptr) return mask;
  if (count == 1) return both(ir, {mask.uniform, nullptr}, {ir.CreateExtractElement(mask.lanes, begin), nullptr});
  std::vector<int> chosen(count);
  std::iota(chosen.begin(), chosen.end(), begin);
  return {mask.uniform, ir.CreateShuffleVector(mask.lanes, chosen)};
}

llvm::Value* mask_value(llvm::IRBuilder<>& ir, const Mask& mask, int lanes) {
  llvm::Value* uniform = mask.uniform ? mask.uniform : ir.getTrue();
  if (lanes == 1) return uniform;
  llvm::Value* splat = ir.CreateVectorSplat(lanes, uniform);
  return mask.lanes ? conjunction(ir, splat, mask.lanes) : splat;
}

Mask any_lane(llvm::IRBuilder<>& ir, const Mask& mask) {
  if (mask.lanes == nullptr) return mask;
  return both(ir, {mask.uniform, nullptr}, {ir.CreateOrReduce(mask.lanes), nullptr});
}

}  // namespace farm::codegen
