// Which task gets the next trials: every one a few, then the one where they promise to save most of the network's time.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "tuner/task_tuning.h"

namespace farm {

using TaskList = std::vector<std::unique_ptr<TaskTuning>>;

/// Whose turn it is, and for how many trials at most.
struct TurnChoice {
  size_t task;
  size_t trials = SIZE_MAX;
};
/// A function of the records alone; nothing when no task has more to try. `first_trials`: what every task gets before
/// they are compared. Tasks without progress are left out when `skip_stale`.
std::optional<TurnChoice> choose_task(const TaskList& tasks, size_t first_trials, bool skip_stale);

/// What the next few trials should save, in nanoseconds of one run of the network.
double expected_saving_ns(const TaskTuning& task);

/// No better by a hundredth for half of its trials, and those are not few.
bool is_stale(const TaskTuning& task);

}  // namespace farm
