#include "tuner/tuning_loop.h"

#include <algorithm>
#include <future>
#include <map>

#include "base/rng.h"
#include "base/text.h"
#include "tuner/allocation.h"
#include "tuner/spending.h"
#include "tuner/stopwatch.h"
#include "tuner/task_report.h"
#include "tuner/workshop.h"

namespace farm {
namespace {

constexpr size_t kTurn = 16;  // two requests; elsewhere than here the second is built while the first is measured
constexpr std::chrono::milliseconds kKeepEvery{100};

struct Turn {
  TaskTuning& task;
  size_t count;
};

class Loop {
 public:
  Loop(const TuneOptions& options, const TuneParts& parts)
      : options_(options), parts_(parts), workshop_(options, parts) {}

  Status open() {
    FARM_CHECK(check_threads(options_, parts_.runner.target()));
    for (const Layer& layer : options_.layers) {
      FARM_TRY(auto task, TaskTuning::open(layer, parts_.runner.target(), options_, parts_.store));
      tasks_.push_back(std::move(task));
    }
    return {};
  }

  Status run() {
    FARM_CHECK(measure_defaults());
    FARM_CHECK(search());
    return measure_finals();
  }

  Result<TuneReport> report(std::optional<Error> trouble) const;

 private:
  // Steps ------------------------------------------------------------

  Status measure_defaults() {
    phase_ = TuneProgress::Phase::Default;
    for (current_ = 0; current_ < tasks_.size(); ++current_) {
      TaskTuning& task = *tasks_[current_];
      if (task.has_default()) continue;
      if (stopped()) return stop();
      tell();
      FARM_TRY(const ExpectedOutput* expected, expected_for_search(task));
      FARM_CHECK(workshop_.run({task, Role::Default, {task.space().default_candidate()}, options_.policy, *expected},
                               [this] { tell(); }));
    }
    return {};
  }

  Status search() {
    phase_ = TuneProgress::Phase::Search;
    search_begin_ = parts_.clock.now();
    while (auto turn = next_turn()) {
      if (stopped()) return stop();
      FARM_CHECK(tune_some(*turn));
    }
    return {};
  }

  Status tune_some(const Turn& turn) {
    const auto candidates = propose(turn);
    if (candidates.empty()) return {};
    FARM_TRY(const ExpectedOutput* expected, expected_for_search(turn.task));
    return workshop_.run({turn.task, Role::Trial, candidates, options_.policy, *expected}, [this] { tell(); });
  }

  std::vector<Candidate> propose(const Turn& turn) {
    const double learned_before = turn.task.strategy().learn_seconds();
    double seconds = 0;
    std::vector<Candidate> candidates;
    {
      const Stopwatch watch(parts_.clock, seconds);
      candidates = turn.task.next(turn.count);
    }
    const double learned = turn.task.strategy().learn_seconds() - learned_before;
    workshop_.seconds().learn += learned;
    workshop_.seconds().propose += std::max(0.0, seconds - learned);
    parts_.runner.keep();
    return candidates;
  }

  Status measure_finals() {
    phase_ = TuneProgress::Phase::Finals;
    for (current_ = 0; current_ < tasks_.size(); ++current_) {
      TaskTuning& task = *tasks_[current_];
      if (!task.wants_finals()) continue;
      if (stopped()) return stop();
      tell();
      FARM_CHECK(measure_final(task));
    }
    return {};
  }

  // The fastest and the default again, interleaved in one fresh process, on inputs that no trial saw.
  Status measure_final(TaskTuning& task) {
    auto finalists = task.fastest(options_.finalists);
    const Candidate& fallback = task.space().default_candidate();
    if (task.default_ns() > 0 && std::ranges::find(finalists, fallback) == finalists.end())
      finalists.push_back(fallback);
    FARM_TRY(const ExpectedOutput expected, make_expected(task, "finals"));
    return workshop_.run_interleaved({task, Role::Final, std::move(finalists), spending_.final_policy(), expected});
  }

  // What comes next ------------------------------------------------------------

  std::optional<Turn> next_turn() {
    const size_t affordable = spending_.affordable_trials();
    if (affordable == 0) return std::nullopt;
    const auto choice = choose_task(tasks_, spending_.first_trials(), options_.budget.stop_without_progress);
    if (!choice) {
      end_ = std::ranges::all_of(tasks_, &TaskTuning::exhausted,
                                 [](const auto& task) -> const TaskTuning& { return *task; })
                 ? TuneReport::End::Exhausted
                 : TuneReport::End::NoProgress;
      return std::nullopt;
    }
    current_ = choice->task;
    return Turn{*tasks_[current_], std::min({affordable, choice->trials, kTurn})};
  }

  Result<const ExpectedOutput*> expected_for_search(const TaskTuning& task) {
    auto found = expected_.find(&task);
    if (found == expected_.end()) {
      FARM_TRY(auto made, make_expected(task, "search"));
      found = expected_.emplace(&task, std::move(made)).first;
    }
    return &found->second;
  }

  // Takes seconds for a big layer, in which the device would be taken for abandoned.
  Result<ExpectedOutput> make_expected(const TaskTuning& task, std::string_view purpose) {
    const uint64_t seed = Rng(options_.seed).fork(purpose).next();
    auto made = std::async(std::launch::async, expect_output, std::cref(task.layer().task), seed);
    while (made.wait_for(kKeepEvery) != std::future_status::ready) parts_.runner.keep();
    return made.get();
  }

  bool stopped() const { return parts_.stopped && parts_.stopped(); }
  static std::unexpected<Error> stop() { return fail(ErrorCode::Interrupted, "stopped"); }

  // What there is to see ------------------------------------------------------------

  double candidates_per_s() const {
    if (phase_ == TuneProgress::Phase::Default || spending_.trials_now() == 0) return 0;
    // Finals are measured for long on purpose: the rate is the search's.
    const auto end = search_end_.value_or(parts_.clock.now());
    return static_cast<double>(spending_.trials_now()) /
           std::max(1e-9, std::chrono::duration<double>(end - search_begin_).count());
  }

  void tell() {
    if (phase_ == TuneProgress::Phase::Search) search_end_ = parts_.clock.now();
    if (parts_.on_progress) parts_.on_progress(progress());
  }

  TuneProgress progress() const {
    const TaskTuning& task = *tasks_[std::min(current_, tasks_.size() - 1)];
    TuneProgress progress{.phase = phase_,
                          .layer = task.layer().name,
                          .task = std::min(current_, tasks_.size() - 1),
                          .tasks = tasks_.size()};
    progress.trials = spending_.trials();
    progress.measured_now = spending_.trials_now();
    progress.trials_wanted = options_.budget.trials;
    progress.candidates_per_s = candidates_per_s();
    progress.seconds_left = spending_.seconds_left(progress.candidates_per_s);
    progress.best_ns = task.best_ns();
    progress.default_ns = task.default_ns();
    if (task.best_ns() > 0) progress.best_gflops = task.flops() / task.best_ns();
    if (task.best_peak_gflops() > 0) progress.share_of_peak = progress.best_gflops / task.best_peak_gflops();
    for (const auto& each : tasks_)
      for (const auto& [outcome, count] : each->failed()) progress.failed[outcome] += count;
    return progress;
  }

  const TuneOptions& options_;
  const TuneParts& parts_;
  Workshop workshop_;
  TaskList tasks_;
  Spending spending_{options_, tasks_};
  std::map<const TaskTuning*, ExpectedOutput> expected_;
  TuneProgress::Phase phase_ = TuneProgress::Phase::Default;
  size_t current_ = 0;
  TuneReport::End end_ = TuneReport::End::Budget;
  Clock::time_point search_begin_{};
  std::optional<Clock::time_point> search_end_;
};

Result<TuneReport> Loop::report(std::optional<Error> trouble) const {
  TuneReport report{.seconds = workshop_.seconds(),
                    .measured_now = spending_.trials_now(),
                    .candidates_per_s = candidates_per_s(),
                    .end = end_};
  if (trouble && trouble->code == ErrorCode::Interrupted)
    report.end = TuneReport::End::Stopped;
  else
    report.trouble = std::move(trouble);
  for (const auto& task : tasks_) {
    FARM_TRY(auto one, report_task(*task, parts_.store));
    report.tasks.push_back(std::move(one));
  }
  return report;
}

}  // namespace

Status check_threads(const TuneOptions& options, const Target& device) {
  if (options.threads >= 1 && options.threads <= device.cores) return {};
  return fail(ErrorCode::InvalidArgument, "--threads is ", options.threads, " when the device ",
              printable(options.device_key), " has ", device.cores, device.cores == 1 ? " core" : " cores", "; 1 to ",
              device.cores, " are possible");
}

Result<TuneReport> tune(const TuneOptions& options, const TuneParts& parts) {
  FARM_ASSERT(!options.layers.empty(), "no task to tune");
  Loop loop(options, parts);
  FARM_CHECK(loop.open());
  const Status done = loop.run();
  return loop.report(done ? std::nullopt : std::optional(done.error()));
}

}  // namespace farm
