// What must hold of a module at each of its two levels. A breach is a bug of a primitive or of a pass.
#pragma once
#include "base/result.h"
#include "schedule/loop_nest.h"

namespace farm {

/// Blocks have a binding for each axis, every variable is bound by a loop around its use, every buffer is a parameter,
/// a workspace or a local of its function, loops have constant extents of at least 1.
Status verify_scheduled(const Module& module);

/// No blocks; one flat index an access; loops Serial or Parallel; lanes of an index, a value and a mask agree;
/// variables and Register and Thread buffers are in sight where they are used.
Status verify_lowered(const Module& module);

}  // namespace farm
