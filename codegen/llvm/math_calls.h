// Named functions of real numbers.
#pragma once
#include <vector>

#include "codegen/llvm/environment.h"

namespace farm::codegen {

/// exp log pow sqrt tanh erf abs floor ceil round trunc fma; what the machine lacks calls libm, lane by lane.
llvm::Value* emit_math_call(Environment& env, const ExprNode& node, const std::vector<llvm::Value*>& args);

}  // namespace farm::codegen
