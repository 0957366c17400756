// From candidates to records: build, measure together, say what each one cost.
#pragma once
#include "base/clock.h"
#include "tuner/task_tuning.h"

namespace farm {

/// Candidates of one task on their way through the farm.
struct Batch {
  TaskTuning& task;
  Role role = Role::Trial;
  std::vector<Candidate> candidates;
  MeasurePolicy policy;
  const ExpectedOutput& expected;
};

/// One candidate after building.
struct Built {
  Candidate candidate;
  BuildResult result;
};

/// Builds and measures with what the run was given, and counts where the time goes.
class Workshop {
 public:
  Workshop(const TuneOptions& options, const TuneParts& parts)
      : options_(options), parts_(parts), stored_at_(parts.clock.now()) {}

  /// Records of the batch are stored and learned as soon as their measurements arrive. Where the device does not share
  /// our cores, the later part of a batch is built while the earlier one is measured.
  Status run(const Batch& batch, const std::function<void()>& on_stored);

  /// All candidates of the batch, interleaved in one request.
  Status run_interleaved(const Batch& batch);

  const TuneSeconds& seconds() const { return seconds_; }
  TuneSeconds& seconds() { return seconds_; }

 private:
  using Futures = std::vector<std::future<Result<BuildResult>>>;

  Futures start_builds(const Batch& batch);
  Result<std::vector<Built>> await(const Batch& batch, Futures& futures, size_t begin, size_t end);
  Result<BuildResult> await_one(std::future<Result<BuildResult>>& future);
  Status measure_and_store(const Batch& batch, std::vector<Built> built, bool interleave);
  Result<MeasureReply> measure(const MeasureRequest& request, const ExpectedOutput& expected);
  Record make_record(const Batch& batch, Built built, Measurement measurement, double peak_gflops) const;
  Status store(TaskTuning& task, std::vector<Record> records);
  bool stopped() const { return parts_.stopped && parts_.stopped(); }

  const TuneOptions& options_;
  const TuneParts& parts_;
  Clock::time_point stored_at_;
  TuneSeconds seconds_;
};

}  // namespace farm
