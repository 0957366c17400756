// Which lanes of an access happen: a part that is the same for all lanes and a part that differs.
#pragma once
#include "codegen/llvm/environment.h"

namespace farm::codegen {

/// Null parts are true. Kept apart because a uniform mask costs one conditional move, a vector of lanes a masked move.
struct Mask {
  llvm::Value* uniform = nullptr;  ///< i1
  llvm::Value* lanes = nullptr;    ///< <n x i1>

  bool always() const { return uniform == nullptr && lanes == nullptr; }
  bool never() const;
};

Mask both(llvm::IRBuilder<>& ir, const Mask& a, const Mask& b);
Mask opposite(llvm::IRBuilder<>& ir, const Mask& mask);
/// Lanes `begin` .. `begin + count`; a single lane becomes uniform.
Mask lanes_of(llvm::IRBuilder<>& ir, const Mask& mask, int begin, int count);
/// As one value: i1 when `lanes` is 1 or no lane differs and `lanes` is 1, else <lanes x i1>.
llvm::Value* mask_value(llvm::IRBuilder<>& ir, const Mask& mask, int lanes);
/// Uniform: whether any lane is on.
Mask any_lane(llvm::IRBuilder<>& ir, const Mask& mask);

}  // namespace farm::codegen
