// Runs a module without compiling it: slow, bounds-checked, the judge of every schedule.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "schedule/loop_nest.h"

namespace farm {

/// Runs prepack (when there is one) and run on `inputs`: one array an operand, non-constant inputs first, then the
/// constants, each in the module's order. Takes resolved and lowered modules. What was never written reads as NaN, so
/// that a result made of it is seen. Fails on any access outside a buffer and on an unknown intrinsic, naming it.
Result<std::vector<float>> interpret(const Module& module, const std::vector<std::vector<float>>& inputs);

}  // namespace farm
