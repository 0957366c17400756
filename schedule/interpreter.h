// Runs a module without compiling it: slow, bounds-checked, the judge of every schedule.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "schedule/loop_nest.h"

namespace farm {

/// Runs prepack (when there is one) and run on `inputs` (one array an input of the task, constants included, in the
/// order non-constant inputs first, then constants). Works on scheduled-resolved and on lowered modules.
/// Fails on any access outside a buffer, read of an undefined element, or unknown intrinsic, naming it.
Result<std::vector<float>> interpret(const Module& module, const std::vector<std::vector<float>>& inputs);

}  // namespace farm
