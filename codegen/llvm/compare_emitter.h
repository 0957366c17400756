// Comparisons become masks.
#pragma once
#include "codegen/llvm/environment.h"
#include "codegen/llvm/mask.h"

namespace farm::codegen {

/// `node` is Eq, Ne, Lt or Le. Index comparisons that loop ranges decide cost nothing.
Mask emit_compare(Environment& env, const ExprNode& node, const Mask& predicate);

}  // namespace farm::codegen
