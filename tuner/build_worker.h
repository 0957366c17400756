// The far side of a BuildPool: a process of its own, so that a compiler that crashes or hangs costs one candidate.
#pragma once
#include "codegen/codegen.h"
#include "tuner/builder.h"

namespace farm {

/// Instantiates and builds; whatever goes wrong is in the result.
BuildResult build_candidate(const BuildJob& job, Backend& backend);

/// Answers jobs from `socket` until it closes. Ends with its parent, which is the process `parent` (not just any).
void serve_build_jobs(int socket, int parent, Backend& backend);

}  // namespace farm
