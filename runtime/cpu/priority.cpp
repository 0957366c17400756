#include "runtime/cpu/priority.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

namespace farm {

PriorityBoost::PriorityBoost() : autogroup_(open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC)) {
  rlimit limit{kMaxRealTimeSeconds * 1'000'000ull, kMaxRealTimeSeconds * 1'000'000ull};
  setrlimit(RLIMIT_RTTIME, &limit);
}

static void make_real_time(void*, int64_t, int64_t, int32_t) {
  sched_param lowest{};
  lowest.sched_priority = 1;
  sched_setscheduler(0, SCHED_FIFO, &lowest);
}

void PriorityBoost::raise(farm_call_context* context, int threads) {
  if (autogroup_ >= 0) (void)!write(autogroup_, "-20", 3);
  setpriority(PRIO_PGRP, 0, -20);
  context->parallel_for(context, threads, make_real_time, nullptr);
}

}  // namespace farm
