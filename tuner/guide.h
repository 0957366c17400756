// The cost model as a search uses it: learns from the records known, scores candidates, keeps account of its errors.
//
// There are two models of the same records. One reads the choices: it scores a candidate in microseconds, so a search
// can breed thousands. The other reads the loop nest, which costs about a millisecond to make: it has a say in the few
// candidates that may be measured, where the mean of both ranks better than either.
#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "tuner/strategy.h"

namespace farm {

class Guide {
 public:
  /// Learns from the records up to the last checkpoint (16, 24, 32 ... records, an eighth apart later), so that a fit
  /// is paid for by several candidates and the model depends on the records alone, not on how they came in.
  void learn(const SearchState& state);
  /// False until enough candidates worked.
  bool ready() const { return choice_model_ != nullptr; }

  /// Higher is faster; by the choices alone.
  std::vector<double> screen(const ScheduleSpace& space, const std::vector<Candidate>& candidates) const;
  /// Higher is faster; by choices and nest. Candidates that no program can be made of get the lowest score there is.
  std::vector<double> score(const ScheduleSpace& space, const std::vector<Candidate>& candidates);

  /// Over the latest records that were predicted before they were learned.
  std::optional<ModelQuality> quality() const;
  double learn_seconds() const { return learn_seconds_; }

 private:
  void follow(const SearchState& state);
  void catch_up(const SearchState& state);
  void judge_arrivals(const SearchState& state);
  void fit(const SearchState& state, size_t records);
  const FeatureRows& features(const ScheduleSpace& space, const Candidate& candidate);

  const ScheduleSpace* space_ = nullptr;
  std::unique_ptr<CostModel> choice_model_, nest_model_;  ///< both or none
  size_t fitted_ = 0;                                     ///< records that the model has learned from
  size_t judged_ = 0;                                     ///< records that were predicted or learned
  double best_ns_ = 0;                                    ///< what a predicted score of 1 stands for
  double learn_seconds_ = 0;
  std::vector<double> predicted_, latency_ns_;             ///< of the records judged
  std::unordered_map<std::string, FeatureRows> features_;  ///< empty: no program can be made
};

}  // namespace farm
