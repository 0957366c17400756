#include "tuner/tuning_loop.h"

#include <algorithm>
#include <map>

#include "base/rng.h"
#include "base/text.h"
#include "tuner/allocation.h"
#include "tuner/stopwatch.h"
#include "tuner/task_report.h"
#include "tuner/workshop.h"

namespace farm {
namespace {

constexpr size_t kTurnHere = 8, kTurnElsewhere = 16;  // elsewhere the second half is built while the first is measured
constexpr size_t kFirstTrials = 8;                    // of each task of a network, before tasks are compared
constexpr double kGuessedTrialSeconds = 0.15;

struct Turn {
  TaskTuning& task;
  size_t count;
};

class Loop {
 public:
  Loop(const TuneOptions& options, const TuneParts& parts) : options_(options), parts_(parts), workshop_(options, parts) {}

  Status open() {
    FARM_CHECK(check_threads());
    for (const Layer& layer : options_.layers) {
      FARM_TRY(auto task, TaskTuning::open(layer, parts_.runner.target(), options_, parts_.store));
      tasks_.push_back(std::move(task));
    }
    return {};
  }

  Status run() {
    begin_ = parts_.clock.now();
    FARM_CHECK(measure_defaults());
    FARM_CHECK(search());
    return measure_finals();
  }

  Result<TuneReport> report(std::optional<Error> trouble) const;

 private:
  Status check_threads() const {
    const Target& target = parts_.runner.target();
    if (options_.threads >= 1 && options_.threads <= target.cores) return {};
    return fail(ErrorCode::InvalidArgument, "threads is ", options_.threads, " when the device ", printable(options_.device_key), " has ",
                target.cores, target.cores == 1 ? " core" : " cores");
  }

  // Steps --------------------------------------------------------------------------------------------------------------

  Status measure_defaults() {
    phase_ = TuneProgress::Phase::Default;
    for (current_ = 0; current_ < tasks_.size(); ++current_) {
      TaskTuning& task = *tasks_[current_];
      if (task.has_default()) continue;
      if (stopped()) return stop();
      tell();
      FARM_TRY(const ExpectedOutput* expected, expected_for_search(task));
      FARM_CHECK(workshop_.run({task, Role::Default, {task.space().default_candidate()}, options_.policy, *expected}, [this] { tell(); }));
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
    if (task.default_ns() > 0 && std::ranges::find(finalists, fallback) == finalists.end()) finalists.push_back(fallback);
    FARM_TRY(const ExpectedOutput expected, expect_output(task.layer().task, Rng(options_.seed).fork("finals").next()));
    return workshop_.run_interleaved({task, Role::Final, std::move(finalists), final_policy(), expected});
  }

  // What comes next ------------------------------------------------------------------------------------------------------

  std::optional<Turn> next_turn() {
    const size_t affordable = std::min(trials_left(), trials_in_time_left());
    if (affordable == 0) return std::nullopt;
    const auto index = choose_task(tasks_, first_trials(), options_.budget.stop_without_progress);
    if (!index) {
      end_ = std::ranges::all_of(tasks_, &TaskTuning::exhausted, [](const auto& task) -> const TaskTuning& { return *task; })
                 ? TuneReport::End::Exhausted
                 : TuneReport::End::NoProgress;
      return std::nullopt;
    }
    current_ = *index;
    const size_t most = parts_.runner.shares_cores() ? kTurnHere : kTurnElsewhere;
    return Turn{*tasks_[current_], std::min(affordable, most)};
  }

  size_t total_trials() const {
    size_t total = 0;
    for (const auto& task : tasks_) total += task->trials();
    return total;
  }

  size_t first_trials() const {
    if (tasks_.size() == 1) return 0;
    if (!options_.budget.trials) return kFirstTrials;
    return std::clamp<size_t>(*options_.budget.trials / (2 * tasks_.size()), 1, kFirstTrials);
  }

  size_t trials_left() const {
    if (!options_.budget.trials) return SIZE_MAX;
    const size_t done = total_trials();
    return done < *options_.budget.trials ? *options_.budget.trials - done : 0;
  }

  size_t trials_in_time_left() const {
    if (!options_.budget.time) return SIZE_MAX;
    const double left = search_seconds_left();
    return left > 0 ? static_cast<size_t>(left / seconds_a_trial()) + 1 : 0;
  }

  // Finals take their share of the time; it is a function of the budget, so that a finished run stays finished.
  double search_seconds_left() const {
    const double whole = std::chrono::duration<double>(*options_.budget.time).count();
    double spent = 0;
    for (const auto& task : tasks_) spent += task->search_seconds();
    return whole - std::min(whole * 0.3, seconds_of_finals()) - spent;
  }

  double seconds_a_trial() const {
    double spent = 0;
    for (const auto& task : tasks_) spent += task->search_seconds();
    const size_t trials = total_trials();
    return trials < kFirstTrials ? kGuessedTrialSeconds : std::max(spent / static_cast<double>(trials), 1e-3);
  }

  double seconds_of_finals() const {
    const double each = std::chrono::duration<double>(final_policy().budget).count() + 0.15;
    return each * static_cast<double>((options_.finalists + 1) * tasks_.size());
  }

  MeasurePolicy final_policy() const {
    MeasurePolicy policy = options_.policy;
    policy.budget *= tasks_.size() == 1 ? 10 : 4;
    policy.min_samples = std::max(policy.min_samples, 20);
    policy.max_samples = std::max(policy.max_samples, 400);
    policy.interval = policy.interval / 4;
    return policy;
  }

  Result<const ExpectedOutput*> expected_for_search(const TaskTuning& task) {
    auto found = expected_.find(&task);
    if (found == expected_.end()) {
      FARM_TRY(auto made, expect_output(task.layer().task, Rng(options_.seed).fork("search").next()));
      found = expected_.emplace(&task, std::move(made)).first;
      parts_.runner.keep();
    }
    return &found->second;
  }

  bool stopped() const { return parts_.stopped && parts_.stopped(); }
  static std::unexpected<Error> stop() { return fail(ErrorCode::Interrupted, "stopped"); }

  // What there is to see ---------------------------------------------------------------------------------------------------

  size_t measured_now() const {
    size_t total = 0;
    for (const auto& task : tasks_) total += task->measured_now();
    return total;
  }

  double candidates_per_s() const {
    if (phase_ == TuneProgress::Phase::Default || measured_now() == 0) return 0;
    // Finals are measured for long on purpose: the rate is the search's.
    const auto end = search_end_.value_or(parts_.clock.now());
    return static_cast<double>(measured_now()) / std::max(1e-9, std::chrono::duration<double>(end - search_begin_).count());
  }

  void tell() {
    if (phase_ == TuneProgress::Phase::Search) search_end_ = parts_.clock.now();
    if (parts_.on_progress) parts_.on_progress(progress());
  }

  TuneProgress progress() const {
    const TaskTuning& task = *tasks_[std::min(current_, tasks_.size() - 1)];
    TuneProgress progress{.phase = phase_, .layer = task.layer().name, .task = std::min(current_, tasks_.size() - 1), .tasks = tasks_.size()};
    progress.trials = total_trials();
    progress.measured_now = measured_now();
    progress.trials_wanted = options_.budget.trials;
    progress.candidates_per_s = candidates_per_s();
    if (options_.budget.time) progress.seconds_left = std::max(0.0, search_seconds_left());
    else if (progress.candidates_per_s > 0) progress.seconds_left = static_cast<double>(trials_left()) / progress.candidates_per_s;
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
  std::map<const TaskTuning*, ExpectedOutput> expected_;
  TuneProgress::Phase phase_ = TuneProgress::Phase::Default;
  size_t current_ = 0;
  TuneReport::End end_ = TuneReport::End::Budget;
  Clock::time_point begin_{}, search_begin_{};
  std::optional<Clock::time_point> search_end_;
};

Result<TuneReport> Loop::report(std::optional<Error> trouble) const {
  TuneReport report{.seconds = workshop_.seconds(), .measured_now = measured_now(), .candidates_per_s = candidates_per_s(), .end = end_};
  if (trouble && trouble->code == ErrorCode::Interrupted) report.end = TuneReport::End::Stopped;
  else report.trouble = std::move(trouble);
  for (const auto& task : tasks_) {
    FARM_TRY(auto one, report_task(*task, parts_.store));
    report.tasks.push_back(std::move(one));
  }
  return report;
}

}  // namespace

Result<TuneReport> tune(const TuneOptions& options, const TuneParts& parts) {
  FARM_ASSERT(!options.layers.empty(), "no task to tune");
  Loop loop(options, parts);
  FARM_CHECK(loop.open());
  const Status done = loop.run();
  return loop.report(done ? std::nullopt : std::optional(done.error()));
}

}  // namespace farm
