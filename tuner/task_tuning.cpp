#include "tuner/task_tuning.h"

#include <algorithm>

namespace farm {

Result<std::unique_ptr<TaskTuning>> TaskTuning::open(const Layer& layer, const Target& target,
                                                     const TuneOptions& options, RecordStore& store) {
  auto task = std::make_unique<TaskTuning>();
  task->layer_ = layer;
  task->key_ = {layer.task.text(), target.text(), options.threads, options.policy.text()};
  task->seed_ = options.seed;
  FARM_TRY(task->space_, make_space(layer.task, target, options.threads));
  FARM_TRY(const TaskSignature shape, signature(layer.task));
  task->flops_ = shape.flops;
  FARM_TRY(task->strategy_, make_strategy(options.strategy));
  task->known_at_trial_.push_back(0);

  RecordFilter filter;
  filter.task = task->key_.task;
  filter.target = task->key_.target;
  filter.threads = task->key_.threads;
  FARM_TRY(const auto scanned, store.scan(filter, [&](const Record& record) {
    const bool same = record.key.target == task->key_.target &&
                      (record.role == Role::Final || record.key.policy == task->key_.policy);
    if (same) task->learn(record);
    return true;
  }));
  task->loading_ = false;
  return task;
}

std::vector<Candidate> TaskTuning::next(size_t count) {
  std::vector<Candidate> candidates;
  while (candidates.size() < count && !exhausted_) {
    if (pending_.empty()) refill();
    for (; !pending_.empty() && candidates.size() < count; pending_.pop_front()) {
      if (!candidates_.contains(pending_.front().text())) candidates.push_back(std::move(pending_.front()));
    }
    // A batch ends where it ends: the next one is to be proposed from what this one gives.
    if (!candidates.empty()) break;
  }
  return candidates;
}

void TaskTuning::refill() {
  const size_t batch_begin = trials_ / kBatch * kBatch;
  std::vector<Known> from(known_.begin(), known_.begin() + static_cast<ptrdiff_t>(known_at_trial_[batch_begin]));
  auto is_new = [this](const Candidate& candidate) { return !candidates_.contains(candidate.text()); };
  const auto proposed = strategy_->propose({*space_, from, seed_}, kBatch);
  std::ranges::copy_if(proposed, std::back_inserter(pending_), is_new);
  if (!pending_.empty() || from.size() == known_.size()) {
    exhausted_ = pending_.empty();
    return;
  }
  // The records since then were another seed's or strategy's: what they took is taken.
  const auto others = strategy_->propose({*space_, known_, seed_}, kBatch);
  pending_.assign(others.begin(), others.end());
  exhausted_ = pending_.empty();
}

void TaskTuning::learn(const Record& record) {
  const double latency_ns = record.measurement.outcome == Outcome::Ok ? record.measurement.latency_ns : 0;
  total_seconds_ += static_cast<double>(record.spent_ns) * 1e-9;
  if (record.role == Role::Final) {
    finals_are_fresh_ = true;
    return;
  }
  auto candidate = candidate_from_text(record.candidate);
  if (!candidate) return;
  search_seconds_ += static_cast<double>(record.spent_ns) * 1e-9;
  finals_are_fresh_ = false;
  candidates_.insert(record.candidate);
  if (record.program != Hash{}) programs_.insert(record.program);
  known_.push_back({*std::move(candidate), record.program, latency_ns});
  if (latency_ns > 0 && (best_ns_ == 0 || latency_ns < best_ns_)) {
    best_ns_ = latency_ns;
    best_peak_gflops_ = record.peak_gflops;
  }
  if (latency_ns == 0 && first_error_.empty())
    first_error_ = to_string(record.measurement.outcome) + ": " + record.measurement.detail;
  if (record.role == Role::Default) {
    has_default_ = true;
    if (latency_ns > 0) default_ns_ = latency_ns;
    known_at_trial_.back() = known_.size();
    return;
  }
  ++trials_;
  if (!loading_) ++measured_now_;
  if (record.measurement.outcome != Outcome::Ok) ++failed_[record.measurement.outcome];
  known_at_trial_.push_back(known_.size());
  history_.push_back(best_ns_);
}

std::vector<Candidate> TaskTuning::fastest(size_t count) const {
  std::vector<const Known*> order;
  for (const Known& known : known_)
    if (known.latency_ns > 0 && space_->contains(known.candidate)) order.push_back(&known);
  std::ranges::stable_sort(order, {}, [](const Known* known) { return known->latency_ns; });
  std::vector<Candidate> candidates;
  for (const Known* known : order) {
    if (candidates.size() == count) break;
    if (std::ranges::find(candidates, known->candidate) == candidates.end()) candidates.push_back(known->candidate);
  }
  return candidates;
}

}  // namespace farm
