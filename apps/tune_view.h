// What a person sees while tune works, on standard error: a line that is redrawn, or plain lines where that is no
// terminal.
#pragma once
#include <string>

#include "base/clock.h"
#include "tuner/tuner.h"

namespace farm {

class TuneView {
 public:
  TuneView(bool terminal, const Clock& clock) : terminal_(terminal), clock_(clock) {}
  ~TuneView() { clear(); }

  void show(const TuneProgress& progress);
  /// One line that stays.
  void note(const std::string& text);
  /// A line that the next one replaces: waiting in a queue.
  void passing(const std::string& text);
  /// Leaves the terminal's line empty.
  void clear();

 private:
  bool terminal_;
  const Clock& clock_;
  bool drawn_ = false;
  Clock::time_point said_at_{};
  std::string said_layer_;
  TuneProgress::Phase said_phase_ = TuneProgress::Phase::Default;
  double said_best_ns_ = 0;
  std::string passed_;
};

/// "120/200 trials  best 549.0 us 421.0 GFLOP/s 78 % of peak  9.1/s  failed 2 (timeout 2)  9.0 s left"
std::string progress_line(const TuneProgress& progress);

/// The same with a bar, in so many columns at most: a narrow terminal gets a shorter bar, then fewer words, then only
/// what matters most: "[####] 120/200  best 549.0 us 421 GFLOP/s 78 % peak  9.1/s  failed 2  9:05 left"
std::string progress_line(const TuneProgress& progress, size_t columns);

}  // namespace farm
