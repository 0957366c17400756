// The lowering passes, each one function on one module; schedule/lower.cpp has their order.
#pragma once
#include "base/result.h"
#include "schedule/arith.h"
#include "schedule/loop_nest.h"

namespace farm {

/// Blocks become plain loops over their bodies: bindings put in place, init under "all reduce axes at 0", predicates
/// as Ifs (droppable when they only keep a local buffer's spare elements unwritten).
Status resolve_blocks(Module& module, int threads);

/// Every local buffer shrinks to what is used at a time and gets its place: Register and small Thread buffers are
/// allocated in the innermost loop around all their uses, the others become workspace (one part a worker inside a
/// parallel loop, see Call "worker").
Status place_buffers(Module& module, int threads);

/// Guards move out of the loops that they do not depend on, as far as they hold for everything there.
Status hoist_guards(Module& module, int threads);

/// The last iteration of a loop whose unrolled insides do less there becomes a copy of its own, so that a partial tile
/// costs what it computes and the others have no guard.
Status peel_tails(Module& module, int threads);

/// Droppable guards go where every access stays inside its buffer without them; those that unrolling will decide are
/// kept, a vector at a time.
Status drop_guards(Module& module, int threads);

/// Row-major flat indices; loads under a select become masked loads.
Status flatten_buffers(Module& module, int threads);

/// Canonical expressions, certain conditions and loops of one iteration gone.
Status simplify_module(Module& module, int threads);

/// Around unrolled and vectorized loops with guards: one copy for where all guards hold, one with the guards.
Status version_guards(Module& module, int threads);

Status vectorize_loops(Module& module, int threads);
Status unroll_loops(Module& module, int threads);

/// Byte offsets of workspace and packed buffers, each at a multiple of 64.
Status plan_memory(Module& module, int threads);

/// Helper of several passes: canonical expressions under the loops' bounds.
Stmt simplify_stmt(const Stmt& stmt, VarBounds bounds);

}  // namespace farm
