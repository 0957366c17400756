#include "apps/tune_view.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/text.h"

namespace farm {
namespace {

constexpr std::chrono::seconds kQuiet{4}, kShortlyQuiet{1};
constexpr double kImprovement = 0.99;
constexpr size_t kBarWidth = 20;

std::string bar_of(double share) {
  const auto filled = static_cast<size_t>(std::clamp(share, 0.0, 1.0) * kBarWidth);
  return "[" + std::string(filled, '#') + std::string(kBarWidth - filled, '.') + "] ";
}

double share_done(const TuneProgress& p) {
  if (p.trials_wanted)
    return static_cast<double>(p.trials) / static_cast<double>(std::max<size_t>(1, *p.trials_wanted));
  if (!p.seconds_left || p.candidates_per_s <= 0) return 0;
  const double spent = static_cast<double>(p.measured_now) / p.candidates_per_s;
  return spent / (spent + *p.seconds_left);
}

std::string failures(const TuneProgress& p) {
  size_t total = 0;
  std::vector<std::string> kinds;
  for (const auto& [outcome, count] : p.failed) {
    total += count;
    kinds.push_back(fmt::format("{} {}", to_string(outcome), count));
  }
  return total == 0 ? "" : fmt::format("  failed {} ({})", total, join(kinds, ", "));
}

std::string best_so_far(const TuneProgress& p) {
  if (p.best_ns <= 0) return p.phase == TuneProgress::Phase::Default ? "" : "  none works yet";
  std::string text = fmt::format("  best {:.4g} ms", p.best_ns * 1e-6);
  if (p.best_gflops > 0) text += fmt::format(" {:.1f} GFLOP/s", p.best_gflops);
  if (p.share_of_peak > 0) text += fmt::format(" {:.0f} % of peak", 100 * p.share_of_peak);
  return text;
}

std::string what_now(const TuneProgress& p) {
  switch (p.phase) {
    case TuneProgress::Phase::Default:
      return "measuring the default schedule";
    case TuneProgress::Phase::Finals:
      return "finals: the fastest again, beside the default schedule";
    case TuneProgress::Phase::Search:
      break;
  }
  return p.trials_wanted ? fmt::format("{}/{} trials", p.trials, *p.trials_wanted) : fmt::format("{} trials", p.trials);
}

// A line that wraps could not be redrawn.
void redraw(const std::string& line) {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  std::fprintf(stderr, "\r\033[K%s", line.substr(0, known ? size.ws_col - 1u : line.size()).c_str());
  std::fflush(stderr);
}

}  // namespace

std::string progress_line(const TuneProgress& p, bool bar) {
  const bool searching = p.phase == TuneProgress::Phase::Search;
  std::string line = bar && searching ? bar_of(share_done(p)) : "";
  if (p.tasks > 1) line += fmt::format("{} ({} of {})  ", p.layer, p.task + 1, p.tasks);
  line += what_now(p) + best_so_far(p);
  if (searching && p.candidates_per_s > 0) line += fmt::format("  {:.1f}/s", p.candidates_per_s);
  line += failures(p);
  if (searching && p.seconds_left)
    line += fmt::format("  {} left",
                        format_duration(std::chrono::nanoseconds(static_cast<int64_t>(*p.seconds_left * 1e9))));
  return line;
}

void TuneView::show(const TuneProgress& p) {
  if (terminal_) {
    redraw(progress_line(p, true));
    drawn_ = true;
    return;
  }
  const auto silent = clock_.now() - said_at_;
  const bool other = p.phase != said_phase_ || said_at_ == Clock::time_point{};
  const bool better = p.layer == said_layer_ && p.best_ns < said_best_ns_ * kImprovement && silent > kShortlyQuiet;
  if (!other && !better && silent < kQuiet) return;
  said_at_ = clock_.now();
  said_phase_ = p.phase;
  said_layer_ = p.layer;
  said_best_ns_ = p.best_ns;
  std::fprintf(stderr, "%s\n", progress_line(p, false).c_str());
}

void TuneView::note(const std::string& text) {
  clear();
  std::fprintf(stderr, "%s\n", text.c_str());
}

void TuneView::passing(const std::string& text) {
  if (terminal_) {
    redraw(text);
    drawn_ = true;
  } else if (text != passed_) {
    std::fprintf(stderr, "%s\n", text.c_str());
  }
  passed_ = text;
}

void TuneView::clear() {
  if (!drawn_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace farm
