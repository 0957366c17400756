#include "tuner/spending.h"

#include <algorithm>

namespace farm {
namespace {

constexpr size_t kFirstTrials = 8;
constexpr double kGuessedTrialSeconds = 0.15;
constexpr double kMostForFinals = 0.3;      // of the time budget
constexpr double kSecondsAroundAFinal = 0.15;  // building and checking it

double seconds_of(std::chrono::nanoseconds duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

size_t Spending::trials() const {
  size_t total = 0;
  for (const auto& task : tasks_) total += task->trials();
  return total;
}

size_t Spending::trials_now() const {
  size_t total = 0;
  for (const auto& task : tasks_) total += task->measured_now();
  return total;
}

size_t Spending::affordable_trials() const { return std::min(trials_left(), trials_in_time_left()); }

size_t Spending::trials_left() const {
  if (!options_.budget.trials) return SIZE_MAX;
  const size_t done = trials();
  return done < *options_.budget.trials ? *options_.budget.trials - done : 0;
}

size_t Spending::trials_in_time_left() const {
  if (!options_.budget.time) return SIZE_MAX;
  const double left = search_seconds_left();
  return left > 0 ? static_cast<size_t>(left / seconds_a_trial()) + 1 : 0;
}

size_t Spending::first_trials() const {
  if (tasks_.size() == 1) return 0;
  if (!options_.budget.trials) return kFirstTrials;
  return std::clamp<size_t>(*options_.budget.trials / (2 * tasks_.size()), 1, kFirstTrials);
}

std::optional<double> Spending::seconds_left(double candidates_per_s) const {
  std::optional<double> left;
  if (options_.budget.time) left = std::max(0.0, search_seconds_left());
  if (!options_.budget.trials || candidates_per_s <= 0) return left;
  const double for_trials = static_cast<double>(trials_left()) / candidates_per_s;
  return left ? std::min(*left, for_trials) : for_trials;
}

double Spending::search_seconds() const {
  double spent = 0;
  for (const auto& task : tasks_) spent += task->search_seconds();
  return spent;
}

// Finals take their share of the time; it is a function of the budget, so that a finished run stays finished.
double Spending::search_seconds_left() const {
  const double whole = seconds_of(*options_.budget.time);
  return whole - std::min(whole * kMostForFinals, seconds_of_finals()) - search_seconds();
}

double Spending::seconds_a_trial() const {
  const size_t done = trials();
  return done < kFirstTrials ? kGuessedTrialSeconds : std::max(search_seconds() / static_cast<double>(done), 1e-3);
}

double Spending::seconds_of_finals() const {
  const double each = seconds_of(final_policy().budget) + kSecondsAroundAFinal;
  return each * static_cast<double>((options_.finalists + 1) * tasks_.size());
}

MeasurePolicy Spending::final_policy() const {
  MeasurePolicy policy = options_.policy;
  policy.budget *= tasks_.size() == 1 ? 10 : 4;
  policy.min_samples = std::max(policy.min_samples, 20);
  policy.max_samples = std::max(policy.max_samples, 400);
  policy.interval = policy.interval / 4;
  return policy;
}

}  // namespace farm
