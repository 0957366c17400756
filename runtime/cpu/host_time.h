// The clock of all timings on a CPU: monotonic, nanoseconds.
#pragma once
#include <ctime>

namespace farm {

inline double host_time_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

}  // namespace farm
