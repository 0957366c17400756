// What `tuning_db best` answers: the same records that compile would take.
#pragma once
#include "apps/target_choice.h"

namespace farm {

/// The best record of each (task, target, threads) that the filter names. When it names a target: of each task and
/// number of threads without a record of exactly that target also the best one of a CPU whose features are a subset,
/// which is noted.
Result<std::vector<Record>> best_records(const RecordFilter& filter, const RecordSource& source, Notes& notes);

}  // namespace farm
