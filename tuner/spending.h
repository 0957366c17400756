// A run's budget: what is left of it, as a function of what is stored.
#pragma once
#include "tuner/allocation.h"

namespace farm {

class Spending {
 public:
  /// Borrows both.
  Spending(const TuneOptions& options, const TaskList& tasks) : options_(options), tasks_(tasks) {}

  size_t trials() const;      ///< that exist, over all tasks
  size_t trials_now() const;  ///< of this run
  /// How many more may be measured; 0 ends the search.
  size_t affordable_trials() const;
  /// What every task of a network gets before tasks are compared.
  size_t first_trials() const;
  /// For a person: of the time budget, or of the trials at this rate; nothing when neither is known.
  std::optional<double> seconds_left(double candidates_per_s) const;
  /// Finals are measured longer than trials: a final decides.
  MeasurePolicy final_policy() const;

 private:
  size_t trials_left() const;
  size_t trials_in_time_left() const;
  double search_seconds() const;
  double search_seconds_left() const;
  double seconds_a_trial() const;
  double seconds_of_finals() const;

  const TuneOptions& options_;
  const TaskList& tasks_;
};

}  // namespace farm
