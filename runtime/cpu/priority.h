// While a kernel is timed its threads should not share their cores with whatever else the machine does.
#pragma once

namespace farm {

/// Prepared while files may still be opened; raised once, when a kernel has passed its check and so is known to come to
/// an end: one that hangs must not starve the machine.
class PriorityBoost {
 public:
  /// The calling process must lead its session (the scheduler groups by that on desktops and servers alike).
  PriorityBoost();
  /// The highest ordinary priority for all threads of this process, where permitted. Not real-time, which can lock a
  /// machine of few cores. Needs only the system calls write and setpriority(PRIO_PGRP, 0).
  void raise();

 private:
  int autogroup_ = -1;
  bool raised_ = false;
};

}  // namespace farm
