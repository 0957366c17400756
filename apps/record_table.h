// Records as aligned columns for people.
#pragma once
#include <string>
#include <vector>

#include "tuning_db/tuning_db.h"

namespace farm {

/// A header line and one line a record: task, target, threads, role, outcome, latency, GFLOP/s, share of peak,
/// candidate. "" for no records. Control characters are made visible.
std::string record_table(const std::vector<Record>& records);

}  // namespace farm
