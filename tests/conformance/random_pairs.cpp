#include "tests/conformance/random_pairs.h"

#include <algorithm>

#include "codegen/codegen.h"
#include "schedule/schedule.h"
#include "tests/conformance/random_task.h"
#include "tuner/tuner.h"

namespace farm {
namespace {

constexpr size_t kCandidatesPerTask = 4;

/// What is asked here is whether it is right, not how fast it is.
MeasurePolicy cheap_policy() {
  MeasurePolicy policy;
  policy.budget = std::chrono::microseconds(10);
  policy.sample = std::chrono::microseconds(1);
  policy.min_samples = 2;
  policy.max_samples = 3;
  policy.timeout = std::chrono::seconds(20);
  return policy;
}

/// The device's own level and the vector levels below it, lowest last.
std::vector<Target> levels_of(const Target& device) {
  std::vector<Target> levels{device};
  for (const char* isa : {"x86-64-v4", "x86-64-v3", "x86-64-v2"})
    if (auto lower = narrow(device, isa)) levels.push_back(*std::move(lower));
  return levels;
}

struct Pair {
  Task task;
  Target target;
  int threads;
  Candidate candidate;
};

WrongPair wrong(const Pair& pair, std::string reason) {
  return {pair.task.text(), pair.target.text(), pair.candidate.text(), pair.threads, std::move(reason)};
}

class PairRun {
 public:
  PairRun(Device& device, const PairOptions& options)
      : device_(device), options_(options), rng_(options.seed), levels_(levels_of(device.target())) {}

  Result<PairReport> run() {
    std::vector<std::string> ops = options_.ops.empty() ? op_names() : options_.ops;
    for (size_t turn = 0; report_.pairs < options_.pairs; ++turn) {
      FARM_CHECK(try_task(random_task(ops[turn % ops.size()], rng_)));
      if (options_.progress) options_.progress(report_.pairs);
    }
    return std::move(report_);
  }

 private:
  Status try_task(const Task& task) {
    std::vector<Pair> built;
    std::vector<Artifact> artifacts;
    for (size_t i = 0; i < kCandidatesPerTask && report_.pairs < options_.pairs; ++i) {
      ++report_.pairs;
      FARM_TRY(Pair pair, choose(task));
      auto artifact = build(pair);
      if (artifact) {
        artifacts.push_back(*std::move(artifact));
        built.push_back(std::move(pair));
      } else {
        report_.wrong.push_back(wrong(pair, artifact.error().message));
      }
    }
    return artifacts.empty() ? Status{} : check(task, built, std::move(artifacts));
  }

  /// Now and then the default: nobody may get a wrong one.
  Result<Pair> choose(const Task& task) {
    Pair pair{task, levels_[rng_.below(levels_.size())], 1, {}};
    pair.threads = device_.target().cores > 1 ? 1 + static_cast<int>(rng_.below(2)) : 1;
    FARM_TRY(auto space, make_space(task, pair.target, pair.threads));
    auto sampled = rng_.chance(0.1) ? std::nullopt : space->sample(rng_);
    pair.candidate = sampled ? *sampled : space->default_candidate();
    return pair;
  }

  Result<Artifact> build(const Pair& pair) {
    FARM_TRY(auto space, make_space(pair.task, pair.target, pair.threads));
    if (!space->contains(pair.candidate)) return fail(ErrorCode::InvalidArgument, "not in its own space");
    FARM_TRY(Program program, instantiate(*space, pair.candidate));
    return backend_->build(program.lowered, pair.target, pair.threads);
  }

  Status check(const Task& task, const std::vector<Pair>& pairs, std::vector<Artifact> artifacts) {
    FARM_TRY(const ExpectedOutput expected, expect_output(task, rng_.next()));
    MeasureRequest request;
    request.artifacts = std::move(artifacts);
    request.inputs = expected.inputs;
    request.policy = cheap_policy();
    FARM_TRY(MeasureReply reply, device_.measure(request, expected.blobs()));
    for (size_t i = 0; i < pairs.size(); ++i) judge(pairs[i], reply.measurements[i]);
    return {};
  }

  /// A noisy machine makes a time unstable, not a result wrong: outputs were checked before.
  void judge(const Pair& pair, const Measurement& measured) {
    if (measured.outcome == Outcome::Ok || measured.outcome == Outcome::Unstable) return;
    report_.wrong.push_back(wrong(pair, to_string(measured.outcome) + ": " + measured.detail));
  }

  Device& device_;
  const PairOptions& options_;
  Rng rng_;
  std::vector<Target> levels_;
  std::unique_ptr<Backend> backend_ = make_llvm_backend();
  PairReport report_;
};

}  // namespace

Result<PairReport> run_random_pairs(Device& device, const PairOptions& options) {
  return PairRun(device, options).run();
}

std::string to_string(const WrongPair& wrong) {
  return wrong.task + " for " + wrong.target + " on " + std::to_string(wrong.threads) +
         (wrong.threads == 1 ? " thread: " : " threads: ") + wrong.candidate + ": " + wrong.reason;
}

}  // namespace farm
