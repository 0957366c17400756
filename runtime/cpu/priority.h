// While a kernel is timed its threads should not share their cores with whatever else the machine does.
#pragma once
#include "runtime/kernel_abi.h"

namespace farm {

/// Prepared while files may still be opened; raised once, when a kernel has passed its check and so is known to come to
/// an end: one that hangs must not starve the machine.
class PriorityBoost {
 public:
  /// The calling process must lead its session (the scheduler groups by that on desktops and servers alike).
  PriorityBoost();
  /// The highest ordinary priority for all threads of this process and, on the calling thread and the workers of
  /// `context`, the lowest real-time one; each where permitted. A process that computes at real-time priority for
  /// longer than kMaxRealTimeSeconds without a pause is killed by the system, which also keeps a twentieth of each
  /// second for others, so that not even two hanging kernels on two cores lock the machine.
  void raise(farm_call_context* context, int threads);

  static constexpr int kMaxRealTimeSeconds = 20;

 private:
  int autogroup_ = -1;
};

}  // namespace farm
