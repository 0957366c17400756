// What is known of a task at the end of a run, read back from the store: what compile would find, no more.
#pragma once
#include "tuner/task_tuning.h"

namespace farm {

Result<TaskReport> report_task(const TaskTuning& task, RecordStore& store);

}  // namespace farm
