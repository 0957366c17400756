// The cores of this machine as a Device.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "runtime/device.h"

namespace farm {

struct CpuDeviceOptions {
  std::vector<int> cores;  ///< CPU numbers that kernels run on, first one first; empty: all that this process may use
  std::string isa;         ///< narrow the device to this level; empty: all that it has
  bool emulated = false;   ///< this process runs in an emulator: results count, times do not
};

/// Forks the runner, so make it early: before threads, and before much memory is in use. Takes about 60 ms, most of it
/// to measure Target::peak_gflops_core. The device belongs to one thread; its runner ends with it or with the process.
/// InvalidArgument for a core or a level that is not there.
Result<std::unique_ptr<Device>> make_cpu_device(const CpuDeviceOptions& options = {});

}  // namespace farm
