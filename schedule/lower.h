// From a scheduled module to one that a code generator reads.
#pragma once
#include "base/result.h"
#include "schedule/loop_nest.h"

namespace farm {

/// Blocks resolved, buffers placed and flat, guards simplified; all loop kinds still there. What features read.
Result<Module> resolve(const Module& scheduled, int threads);

/// The rest: guards versioned, loops vectorised and unrolled, memory planned. `resolved` comes from `resolve`.
Result<Module> lower(const Module& resolved, int threads);

}  // namespace farm
