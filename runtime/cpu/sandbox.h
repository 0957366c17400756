// What a process that runs foreign code gives up first. Each step is best effort: a kernel or an emulator that lacks
// one still measures.
#pragma once
#include <cstdint>
#include <span>

namespace farm {

/// For the runner and its children: default signal handling, standard input and output to /dev/null, every descriptor
/// closed except standard error and `keep`.
void leave_parent_behind(std::span<const int> keep);

/// No core files, no new files, few descriptors, no new privileges, dies with its parent process `parent`.
/// `cpu_seconds` and `memory_bytes` (more than is mapped now) bound the whole process.
void limit_process(int parent, int64_t cpu_seconds, int64_t memory_bytes);

/// From now on all threads may compute, wait, write to open descriptors and end, nothing else: no files, no network, no
/// new processes or threads, no signals to others. A forbidden call ends the process by SIGSYS. False when the system
/// has no such filter.
bool forbid_system_calls();

}  // namespace farm
