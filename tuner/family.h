// Which candidates are of one kind: those that agree in the decisions that matter most to the latency.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "schedule/schedule.h"

namespace farm {

/// Higher is faster.
using ScoreCandidates = std::function<std::vector<double>(const std::vector<Candidate>&)>;

/// A batch of a single family teaches little: its members differ in what hardly matters, and noise picks the winner.
/// So a search measures only so many of each, and has to look at the next best family too.
class Families {
 public:
  /// Finds what matters by asking `score` how far each decision moves `samples`, option by option.
  Families(const ScheduleSpace& space, const std::vector<Candidate>& samples, const ScoreCandidates& score);

  /// Equal for members of one family.
  std::string of(const Candidate& candidate) const;

 private:
  std::map<std::string, std::vector<bool>> matters_;  ///< by variant, decision by decision
};

}  // namespace farm
