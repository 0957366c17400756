// A parallel loop becomes a function of its own, called through the call context.
#pragma once
#include "codegen/llvm/environment.h"

namespace farm::codegen {

/// Emits context->parallel_for(context, extent, worker, closure). What the body uses travels in the closure; parallel
/// loops nested in it run serially.
void emit_parallel(Environment& env, const For& loop);

}  // namespace farm::codegen
