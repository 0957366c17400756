// Tells the runner, through shared memory, which signal ends this process and where.
#pragma once
#include <vector>

#include "runtime/cpu/measure_child.h"

namespace farm {

/// Buffers whose guard pages make a fault "out of bounds"; set before the kernel that has them runs.
void watch_buffers(std::vector<const GuardedBuffer*> buffers);

/// Installs handlers for the signals that faults raise. `report` outlives the process' work.
void report_faults_to(ChildReport& report);

/// An alternate stack for the calling thread, so that an overflow of its own stack is reported too. For each thread
/// once.
void use_fault_stack();

}  // namespace farm
