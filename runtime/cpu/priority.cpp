#include "runtime/cpu/priority.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace farm {

PriorityBoost::PriorityBoost() : autogroup_(open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC)) {}

void PriorityBoost::raise() {
  if (raised_) return;
  raised_ = true;
  if (autogroup_ >= 0) (void)!write(autogroup_, "-20", 3);
  setpriority(PRIO_PGRP, 0, -20);
}

}  // namespace farm
