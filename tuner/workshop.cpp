#include "tuner/workshop.h"

#include <algorithm>

#include "base/text.h"
#include "tuner/stopwatch.h"

namespace farm {
namespace {

constexpr size_t kMeasuredTogether =
    8;  ///< in one request: saves round trips, and little is lost when it is interrupted
constexpr std::chrono::milliseconds kLookEvery{50};

Measurement build_failed(const BuildResult& result) {
  return {.outcome = Outcome::BuildFailed, .detail = result.error};
}

std::unexpected<Error> stop() { return fail(ErrorCode::Interrupted, "stopped"); }

}  // namespace

Status Workshop::run(const Batch& batch, const std::function<void()>& on_stored) {
  const size_t count = batch.candidates.size();
  Futures futures = start_builds(batch);
  // Never time on cores that build: then everything is built first.
  size_t built_until = 0;
  std::vector<Built> built;
  for (size_t begin = 0; begin < count; begin += kMeasuredTogether) {
    const size_t end = std::min(count, begin + kMeasuredTogether);
    const size_t wanted = parts_.runner.shares_cores() ? count : end;
    FARM_TRY(auto more, await(batch, futures, built_until, wanted));
    built_until = wanted;
    std::ranges::move(more, std::back_inserter(built));
    const auto cut = static_cast<ptrdiff_t>(std::min(built.size(), kMeasuredTogether));
    std::vector<Built> together(std::move_iterator(built.begin()), std::move_iterator(built.begin() + cut));
    built.erase(built.begin(), built.begin() + cut);
    FARM_CHECK(measure_and_store(batch, std::move(together), false));
    on_stored();
  }
  return {};
}

Status Workshop::run_interleaved(const Batch& batch) {
  Futures futures = start_builds(batch);
  FARM_TRY(auto built, await(batch, futures, 0, batch.candidates.size()));
  return measure_and_store(batch, std::move(built), true);
}

Workshop::Futures Workshop::start_builds(const Batch& batch) {
  const RecordKey& key = batch.task.key();
  std::vector<BuildJob> jobs;
  for (const Candidate& candidate : batch.candidates)
    jobs.push_back({key.task, parts_.runner.target(), key.threads, candidate.text()});
  return parts_.builder.start(std::move(jobs));
}

Result<std::vector<Built>> Workshop::await(const Batch& batch, Futures& futures, size_t begin, size_t end) {
  const Stopwatch watch(parts_.clock, seconds_.build);
  std::vector<Built> built;
  for (size_t i = begin; i < end; ++i) {
    FARM_TRY(BuildResult result, await_one(futures[i]));
    built.push_back({batch.candidates[i], std::move(result)});
  }
  return built;
}

Result<BuildResult> Workshop::await_one(std::future<Result<BuildResult>>& future) {
  while (future.wait_for(kLookEvery) != std::future_status::ready) {
    if (stopped()) return stop();
    parts_.runner.keep();
  }
  return future.get();
}

Status Workshop::measure_and_store(const Batch& batch, std::vector<Built> built, bool interleave) {
  if (batch.role == Role::Trial) {
    std::erase_if(built, [&](const Built& one) {
      const bool same = batch.task.knows(one.result.program);
      if (same) batch.task.drop(one.candidate);
      return same;
    });
  }
  MeasureRequest request{.policy = batch.policy, .interleave = interleave, .measure_peak = true};
  if (batch.role == Role::Trial) request.best_ns = batch.task.best_ns();
  for (Built& one : built)
    if (one.result.artifact) request.artifacts.push_back(*std::move(one.result.artifact));

  MeasureReply reply;
  if (!request.artifacts.empty()) {
    FARM_TRY(reply, measure(request, batch.expected));
  }
  std::vector<Record> records;
  auto measured = reply.measurements.begin();
  for (Built& one : built) {
    Measurement measurement = one.result.artifact ? std::move(*measured++) : build_failed(one.result);
    records.push_back(make_record(batch, std::move(one), std::move(measurement), reply.peak_gflops));
  }
  return store(batch.task, std::move(records));
}

Result<MeasureReply> Workshop::measure(const MeasureRequest& request, const ExpectedOutput& expected) {
  const double shipping_before = parts_.runner.transfer_seconds();
  double seconds = 0;
  auto reply = [&] {
    const Stopwatch watch(parts_.clock, seconds);
    return parts_.runner.measure(request, expected);
  }();
  const double shipping = parts_.runner.transfer_seconds() - shipping_before;
  seconds_.transfer += shipping;
  seconds_.run += std::max(0.0, seconds - shipping);
  if (reply && reply->measurements.size() != request.artifacts.size())
    return fail(ErrorCode::Corrupt, "the device measured ", reply->measurements.size(), " of ",
                request.artifacts.size(), " artifacts");
  return reply;
}

Record Workshop::make_record(const Batch& batch, Built built, Measurement measurement, double peak_gflops) const {
  Record record;
  record.key = batch.task.key();
  record.key.policy = batch.policy.text();
  record.candidate = built.candidate.text();
  record.role = batch.role;
  record.measurement = std::move(measurement);
  record.program = built.result.program;
  record.trace = std::move(built.result.trace);
  record.flops = batch.task.flops();
  record.peak_gflops = peak_gflops;
  record.device = parts_.runner.target();
  record.device_key = options_.device_key;
  record.device_id = parts_.runner.device_id();
  record.run_id = options_.run_id;
  record.seed = options_.seed;
  record.build_ns = built.result.build_ns;
  record.time = utc_now_text();
  record.environment = options_.environment;
  return record;
}

Status Workshop::store(TaskTuning& task, std::vector<Record> records) {
  if (records.empty()) return {};
  const Stopwatch watch(parts_.clock, seconds_.learn);
  const auto now = parts_.clock.now();
  const int64_t each_ns = std::chrono::nanoseconds(now - stored_at_).count() / static_cast<int64_t>(records.size());
  for (Record& record : records) record.spent_ns = each_ns;
  stored_at_ = now;
  FARM_TRY([[maybe_unused]] const size_t added, parts_.store.append(records));
  for (const Record& record : records) task.learn(record);
  return {};
}

}  // namespace farm
