#include "tuner/allocation.h"

#include <algorithm>

namespace farm {
namespace {

constexpr double kFewTrials = 8;
constexpr size_t kLeastBeforeStale = 96;
constexpr double kProgress = 0.01;

// Share of the latency that went away during the last `window` trials.
double recent_gain(const std::vector<double>& history, size_t window) {
  if (history.size() <= window) return 0;
  const double before = history[history.size() - 1 - window], now = history.back();
  return before > 0 && now > 0 ? (before - now) / before : 0;
}

// What is left until the device's peak; a task that is bound by memory never gets there, so it is only a hint.
double headroom(const TaskTuning& task) {
  if (task.best_peak_gflops() <= 0 || task.best_ns() <= 0) return 0.5;
  return std::clamp(1 - task.flops() / task.best_ns() / task.best_peak_gflops(), 0.1, 1.0);
}

}  // namespace

double expected_saving_ns(const TaskTuning& task) {
  const auto trials = static_cast<double>(task.trials());
  const size_t window = std::max<size_t>(16, task.trials() / 3);
  const double trend = recent_gain(task.history(), window) * kFewTrials / static_cast<double>(window);
  // Luck gets rarer as trials grow: the n-th one is the best so far with a chance of 1/n.
  const double luck = headroom(task) * kFewTrials / (2 * (trials + kFewTrials));
  const double latency_ns = task.best_ns() > 0 ? task.best_ns() : 1e6;
  return task.layer().occurrences * latency_ns * (trend + luck);
}

bool is_stale(const TaskTuning& task) {
  return task.trials() >= kLeastBeforeStale && recent_gain(task.history(), task.trials() / 2) < kProgress;
}

std::optional<TurnChoice> choose_task(const TaskList& tasks, size_t first_trials, bool skip_stale) {
  std::optional<size_t> poorest, best;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const TaskTuning& task = *tasks[i];
    if (task.exhausted() || (skip_stale && is_stale(task))) continue;
    if (task.trials() < first_trials && (!poorest || task.trials() < tasks[*poorest]->trials())) poorest = i;
    if (!best || expected_saving_ns(task) > expected_saving_ns(*tasks[*best])) best = i;
  }
  if (poorest) return TurnChoice{*poorest, first_trials - tasks[*poorest]->trials()};
  return best ? std::optional(TurnChoice{*best}) : std::nullopt;
}

}  // namespace farm
