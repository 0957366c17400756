// For the room's tests: a builder and a device that are formulas, in virtual time, and a real database in a temporary
// folder.
#pragma once
#include <stdlib.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "testing.h"
#include "tuner/tuner.h"

namespace farm {

class TestFolder {
 public:
  TestFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tuner_test_XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

inline Target test_target() {
  Target target = *target_from_name("x86-64-v3");
  target.cores = 2;
  return target;
}

inline Layer test_layer(int size = 24, int occurrences = 1) {
  const std::string n = std::to_string(size);
  return {"m" + n, *make_task("matmul", "m=" + n + ",n=" + n + ",k=" + n), occurrences};
}

/// Instantiates, and wraps the candidate's text into an artifact instead of code.
class FormulaBuilder final : public Builder {
 public:
  std::function<bool(const std::string&)> cannot_build = [](const std::string&) { return false; };
  bool broken = false;  ///< nothing can be built here at all
  size_t built = 0;

  std::vector<std::future<Result<BuildResult>>> start(std::vector<BuildJob> jobs) override {
    std::vector<std::future<Result<BuildResult>>> results;
    for (const BuildJob& job : jobs) {
      std::promise<Result<BuildResult>> promise;
      promise.set_value(build(job));
      results.push_back(promise.get_future());
    }
    return results;
  }

 private:
  Result<BuildResult> build(const BuildJob& job) {
    if (broken) return fail(ErrorCode::Unavailable, "no compiler here");
    ++built;
    if (cannot_build(job.candidate)) return BuildResult{.error = "no code came out"};
    if (!space_ || space_->task().text() != job.task)
      space_ = *make_space(*task_from_text(job.task), job.target, job.threads);
    const auto program = *instantiate(*space_, *candidate_from_text(job.candidate));
    BuildResult result{.program = program.hash, .trace = program.trace, .build_ns = 1000};
    const auto text = std::as_bytes(std::span(job.candidate));
    result.artifact = Artifact{.isa = job.task, .flops = 1e6, .blob = {text.begin(), text.end()}};
    return result;
  }
  std::shared_ptr<const ScheduleSpace> space_;
};

/// Measures by a formula of the candidate's text; each measurement takes a tenth of a second of virtual time.
class FormulaRunner final : public Runner {
 public:
  explicit FormulaRunner(VirtualClock& clock) : clock_(clock), target_(test_target()) {}

  std::function<Outcome(const std::string&)> outcome = [](const std::string&) { return Outcome::Ok; };
  std::function<double(const std::string&)> latency_ns = [](const std::string& text) {
    return 1000.0 + hash_text(text).bytes[0];
  };
  std::function<double(const std::string&)> slowness = [](const std::string&) { return 1.0; };  ///< by task
  size_t stop_after = SIZE_MAX;  ///< measurements until the run is asked to stop
  std::optional<Error> trouble;  ///< what the farm says from then on
  size_t measured = 0;
  std::vector<MeasureRequest> requests;
  bool shared = true;

  const Target& target() const override { return target_; }
  std::string device_id() const override { return "formula"; }
  bool shares_cores() const override { return shared; }
  bool stopped() const { return measured >= stop_after; }

  Result<MeasureReply> measure(MeasureRequest request, const ExpectedOutput& expected) override {
    if (trouble) return std::unexpected(*trouble);
    request.inputs = expected.inputs;
    MeasureReply reply{.peak_gflops = 2000};
    for (const Artifact& artifact : request.artifacts) reply.measurements.push_back(measure_one(artifact));
    requests.push_back(std::move(request));
    return reply;
  }

 private:
  Measurement measure_one(const Artifact& artifact) {
    ++measured;
    clock_.advance(std::chrono::milliseconds(100));
    const std::string text(reinterpret_cast<const char*>(artifact.blob.data()), artifact.blob.size());
    Measurement measurement{.outcome = outcome(text)};
    if (measurement.outcome != Outcome::Ok) {
      measurement.detail = "as the test wants";
      return measurement;
    }
    measurement.latency_ns = measurement.median_ns = latency_ns(text) * slowness(artifact.isa);
    measurement.low_ns = measurement.latency_ns - 0.25;
    measurement.high_ns = measurement.latency_ns + 0.25;
    return measurement;
  }

  VirtualClock& clock_;
  Target target_;
};

/// One database, and runs on it.
class TestTuning {
 public:
  TuneOptions options{
      .layers = {test_layer()}, .threads = 2, .strategy = "random", .device_key = "test", .run_id = "run"};
  FormulaBuilder builder;
  VirtualClock clock;
  FormulaRunner runner{clock};
  std::vector<TuneProgress> seen;

  TestTuning() : store_(*open_store(folder_.file("t.db"), OpenMode::ReadWrite)) {}

  Result<TuneReport> run() {
    const TuneParts parts{builder,
                          runner,
                          *store_,
                          clock,
                          [this](const TuneProgress& progress) { seen.push_back(progress); },
                          [this] { return runner.stopped(); }};
    return tune(options, parts);
  }
  Result<TuneReport> run_until(size_t trials) {
    options.budget.trials = trials;
    return run();
  }

  std::vector<Record> records(std::optional<Role> role = std::nullopt) {
    std::vector<Record> all;
    RecordFilter filter;
    filter.role = role;
    REQUIRE(store_->scan(filter, [&](const Record& record) { return all.push_back(record), true; }));
    return all;
  }
  std::vector<std::string> trial_candidates() {
    std::vector<std::string> texts;
    for (const Record& record : records(Role::Trial)) texts.push_back(record.candidate);
    return texts;
  }

 private:
  TestFolder folder_;
  std::unique_ptr<RecordStore> store_;
};

}  // namespace farm
