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

/// What a line says and in how many words: the harder it is squeezed, the less. First the bar is shortened and words
/// are, then the least important goes.
struct Form {
  int squeeze = 0;

  bool kinds_of_failures() const { return squeeze < 1; }
  size_t bar() const { return squeeze < 2 ? 20 : squeeze < 4 ? 10 : squeeze < 7 ? 4 : 0; }
  bool long_words() const { return squeeze < 3; }
  bool count() const { return squeeze < 5; }
  bool layer() const { return squeeze < 6; }
  bool failures() const { return squeeze < 8; }
  bool share() const { return squeeze < 9; }
  bool rate() const { return squeeze < 10; }
  bool gflops() const { return squeeze < 10; }
};
constexpr Form kHardest{10};

double share_done(const TuneProgress& p) {
  if (p.trials_wanted)
    return static_cast<double>(p.trials) / static_cast<double>(std::max<size_t>(1, *p.trials_wanted));
  if (!p.seconds_left || p.candidates_per_s <= 0) return 0;
  const double spent = static_cast<double>(p.measured_now) / p.candidates_per_s;
  return spent / (spent + *p.seconds_left);
}

std::string bar_of(const TuneProgress& p, size_t width) {
  const auto filled = static_cast<size_t>(std::clamp(share_done(p), 0.0, 1.0) * static_cast<double>(width));
  return "[" + std::string(filled, '#') + std::string(width - filled, '.') + "] ";
}

// The pieces of a line ------------------------------------------------------------

std::string layer_of(const TuneProgress& p, const Form& form) {
  if (p.tasks <= 1) return "";
  if (!form.layer()) return fmt::format("{}/{}", p.task + 1, p.tasks);
  if (form.long_words()) return fmt::format("{} ({} of {})", p.layer, p.task + 1, p.tasks);
  return fmt::format("{} {}/{}", p.layer.substr(p.layer.find('/') + 1), p.task + 1, p.tasks);
}

std::string what_now(const TuneProgress& p, const Form& form) {
  switch (p.phase) {
    case TuneProgress::Phase::Default:
      return form.long_words() ? "measuring the default schedule" : "default schedule";
    case TuneProgress::Phase::Finals:
      return form.long_words() ? "finals: the fastest again, beside the default schedule" : "finals";
    case TuneProgress::Phase::Search:
      break;
  }
  if (!form.count()) return "";
  std::string text = std::to_string(p.trials);
  if (p.trials_wanted) text += fmt::format("/{}", *p.trials_wanted);
  return form.long_words() || !p.trials_wanted ? text + " trials" : text;
}

std::string best_so_far(const TuneProgress& p, const Form& form) {
  if (p.best_ns <= 0) return p.phase == TuneProgress::Phase::Default ? "" : "none works yet";
  std::string text = "best " + format_latency(p.best_ns);
  if (p.best_gflops > 0 && form.gflops())
    text += fmt::format(" {:.{}f} GFLOP/s", p.best_gflops, form.long_words() || p.best_gflops < 100 ? 1 : 0);
  if (p.share_of_peak > 0 && form.share())
    text += fmt::format(" {:.0f} %{} peak", 100 * p.share_of_peak, form.long_words() ? " of" : "");
  return text;
}

std::string rate_of(const TuneProgress& p, const Form& form) {
  const bool known = p.phase == TuneProgress::Phase::Search && p.candidates_per_s > 0;
  return known && form.rate() ? fmt::format("{:.1f}/s", p.candidates_per_s) : "";
}

std::string failures(const TuneProgress& p, const Form& form) {
  size_t total = 0;
  std::vector<std::string> kinds;
  for (const auto& [outcome, count] : p.failed) {
    total += count;
    kinds.push_back(fmt::format("{} {}", to_string(outcome), count));
  }
  if (total == 0 || !form.failures()) return "";
  return fmt::format("failed {}", total) + (form.kinds_of_failures() ? " (" + join(kinds, ", ") + ")" : "");
}

/// "9:05", "1:04:00"
std::string on_a_clock(double seconds) {
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string time_left(const TuneProgress& p, const Form& form) {
  if (p.phase != TuneProgress::Phase::Search || !p.seconds_left) return "";
  const std::chrono::nanoseconds left(static_cast<int64_t>(*p.seconds_left * 1e9));
  return (form.long_words() ? format_duration(left) : on_a_clock(*p.seconds_left)) + " left";
}

std::string words_of(const TuneProgress& p, const Form& form) {
  std::vector<std::string> pieces{layer_of(p, form), what_now(p, form), best_so_far(p, form),
                                  rate_of(p, form),  failures(p, form), time_left(p, form)};
  std::erase(pieces, "");
  return join(pieces, "  ");
}

std::string line_of(const TuneProgress& p, const Form& form) {
  const bool bar = form.bar() > 0 && p.phase == TuneProgress::Phase::Search;
  return (bar ? bar_of(p, form.bar()) : "") + words_of(p, form);
}

constexpr size_t kUsualColumns = 80;

size_t terminal_columns() {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return (known ? size.ws_col : kUsualColumns) - 1;  // the cursor takes the last one
}

// A line that wraps could not be redrawn.
void redraw(const std::string& line) {
  std::fprintf(stderr, "\r\033[K%s", line.substr(0, terminal_columns()).c_str());
  std::fflush(stderr);
}

}  // namespace

std::string progress_line(const TuneProgress& progress) { return words_of(progress, {}); }

std::string progress_line(const TuneProgress& progress, size_t columns) {
  for (Form form; form.squeeze <= kHardest.squeeze; ++form.squeeze)
    if (std::string line = line_of(progress, form); line.size() <= columns) return line;
  return line_of(progress, kHardest).substr(0, columns);
}

void TuneView::show(const TuneProgress& p) {
  if (terminal_) {
    redraw(progress_line(p, terminal_columns()));
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
  std::fprintf(stderr, "%s\n", progress_line(p).c_str());
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
