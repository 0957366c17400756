#include <algorithm>

#include "tuning_db/store.h"

namespace farm {

/// Features that it needs all exist on `target`. A device that never said what it has is no proof, and what is fast in
/// an emulator says nothing of a device.
static bool usable(const Record& record, const Target& target) {
  return !record.device.features.empty() && record.device.emulated == target.emulated &&
         features_cover(target, record.device);
}

/// The CPU most like ours: most features in common; then by name, so that the answer does not depend on the file.
static bool is_nearer(const Record& a, const Record& b) {
  size_t count_a = a.device.features.size(), count_b = b.device.features.size();
  return count_a != count_b ? count_a > count_b : a.key.target < b.key.target;
}

Result<std::optional<BestMatch>> best_for(RecordStore& store, const std::string& task, const Target& target,
                                          int threads) {
  RecordFilter filter;
  filter.task = task;
  filter.threads = threads;
  FARM_TRY(std::vector<Record> records, store.best(filter));
  for (Record& record : records)
    if (record.key.target == target.text()) return BestMatch{std::move(record), true};
  std::erase_if(records, [&](const Record& record) { return !usable(record, target); });
  if (records.empty()) return std::nullopt;
  return BestMatch{*std::min_element(records.begin(), records.end(), is_nearer), false};
}

}  // namespace farm
