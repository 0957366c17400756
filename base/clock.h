// Time comes in as a parameter, so that tests run in virtual time.
#pragma once
#include <chrono>
#include <string>

namespace farm {

class Clock {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  using duration = std::chrono::nanoseconds;
  virtual ~Clock() = default;
  virtual time_point now() const = 0;
};

/// The machine's monotonic clock.
class SteadyClock final : public Clock {
 public:
  time_point now() const override { return std::chrono::steady_clock::now(); }
};

/// Stands still until it is told to move.
class VirtualClock final : public Clock {
 public:
  time_point now() const override { return now_; }
  void advance(duration by) { now_ += by; }

 private:
  time_point now_{};
};

/// Wall time for printing and storing only, never for comparing: "2026-11-30T21:22:08Z".
std::string utc_now_text();

}  // namespace farm
