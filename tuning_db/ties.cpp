#include "tuning_db/ties.h"

#include <algorithm>
#include <tuple>

#include "schedule/schedule.h"

namespace farm {

bool is_tie(const Record& one, const Record& other) {
  if (one.role != Role::Final || other.role != Role::Final || one.run_id != other.run_id) return false;
  const Measurement &a = one.measurement, &b = other.measurement;
  return a.low_ns <= b.high_ns && b.low_ns <= a.high_ns;
}

size_t distance_from_default(const std::string& candidate, const std::string& fallback) {
  auto ours = candidate_from_text(candidate), theirs = candidate_from_text(fallback);
  if (!ours || !theirs) return candidate.size();
  if (ours->variant != theirs->variant) return ours->choices.size() + 1;
  return static_cast<size_t>(std::ranges::count_if(
      ours->choices, [&](const auto& choice) { return std::ranges::count(theirs->choices, choice) == 0; }));
}

const Record& simplest_of(std::span<const Record> ties, const std::string& fallback) {
  auto simplicity = [&](const Record& record) {
    return std::tuple(distance_from_default(record.candidate, fallback), record.candidate.size(),
                      std::string_view(record.candidate));
  };
  return *std::ranges::min_element(ties, {}, simplicity);
}

}  // namespace farm
