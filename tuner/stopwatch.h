// Adds the time until its end to a sum of seconds.
#pragma once
#include <chrono>

#include "base/clock.h"

namespace farm {

class Stopwatch {
 public:
  Stopwatch(const Clock& clock, double& seconds) : clock_(clock), seconds_(seconds), begin_(clock.now()) {}
  ~Stopwatch() { seconds_ += std::chrono::duration<double>(clock_.now() - begin_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  const Clock& clock_;
  double& seconds_;
  Clock::time_point begin_;
};

}  // namespace farm
