// One task on its way: its space, what is known of it, and what comes next.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <unordered_set>

#include "tuner/tuning_loop.h"

namespace farm {

class TaskTuning {
 public:
  /// Reads what the store knows.
  static Result<std::unique_ptr<TaskTuning>> open(const Layer& layer, const Target& target, const TuneOptions& options,
                                                  RecordStore& store);

  const Layer& layer() const { return layer_; }
  const RecordKey& key() const { return key_; }
  const ScheduleSpace& space() const { return *space_; }

  /// Up to `count` candidates that are worth measuring next. None: the space is exhausted, or nothing could be
  /// measured.
  ///
  /// Batch k is proposed from the first k * kBatch trials, whenever it is asked for: a run that was stopped in the
  /// middle of a batch proposes the rest of the same batch when it goes on.
  std::vector<Candidate> next(size_t count);
  /// Takes in a record of this task, stored now or before.
  void learn(const Record& record);
  /// Whether a lowered program was measured already.
  bool knows(const Hash& program) const { return programs_.contains(program); }
  /// Never to be proposed again, though nothing was measured: it is the same program as another one.
  void drop(const Candidate& candidate) { candidates_.insert(candidate.text()); }

  bool exhausted() const { return exhausted_; }
  bool has_default() const { return has_default_; }
  /// Trials came after the last finals, or there were none.
  bool wants_finals() const { return !finals_are_fresh_ && best_ns_ > 0; }
  size_t trials() const { return trials_; }
  size_t measured_now() const { return measured_now_; }
  const std::map<Outcome, size_t>& failed() const { return failed_; }
  const std::string& first_error() const { return first_error_; }
  double best_ns() const { return best_ns_; }  ///< of trials and default; 0 none
  double default_ns() const { return default_ns_; }
  double best_peak_gflops() const { return best_peak_gflops_; }
  double flops() const { return flops_; }
  double search_seconds() const { return search_seconds_; }  ///< stored, without finals
  double total_seconds() const { return total_seconds_; }
  /// Best latency after each trial so far, 0 while none worked.
  const std::vector<double>& history() const { return history_; }
  /// The fastest distinct candidates, fastest first.
  std::vector<Candidate> fastest(size_t count) const;
  const Strategy& strategy() const { return *strategy_; }

 private:
  static constexpr size_t kBatch = 16;

  void refill();

  Layer layer_;
  RecordKey key_;
  uint64_t seed_ = 0;
  std::shared_ptr<const ScheduleSpace> space_;
  std::unique_ptr<Strategy> strategy_;
  bool loading_ = true;

  std::vector<Known> known_;            ///< default and trials in order of storing
  std::vector<size_t> known_at_trial_;  ///< number of known records once so many trials were stored
  std::unordered_set<std::string> candidates_;
  std::unordered_set<Hash> programs_;
  std::deque<Candidate> pending_;
  bool exhausted_ = false, has_default_ = false, finals_are_fresh_ = false;
  size_t trials_ = 0, measured_now_ = 0;
  std::map<Outcome, size_t> failed_;
  std::string first_error_;
  double best_ns_ = 0, default_ns_ = 0, best_peak_gflops_ = 0, flops_ = 0, search_seconds_ = 0, total_seconds_ = 0;
  std::vector<double> history_;
};

}  // namespace farm
