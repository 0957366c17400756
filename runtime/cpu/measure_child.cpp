#include "runtime/cpu/measure_child.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>

#include "runtime/cpu/fault_report.h"
#include "runtime/cpu/host_time.h"
#include "runtime/cpu/kernel_run.h"
#include "runtime/cpu/physics.h"
#include "runtime/cpu/pool.h"
#include "runtime/cpu/priority.h"
#include "runtime/cpu/sandbox.h"
#include "runtime/cpu/statistics.h"

namespace farm {

void encode(ByteWriter& out, const ChildReply& value) {
  encode(out, MeasureReply{value.measurements, value.golden_ns});
  out.boolean(value.filtered);
}
void decode(ByteReader& in, ChildReply& value) {
  MeasureReply reply;
  decode(in, reply);
  value = {std::move(reply.measurements), reply.peak_gflops, in.boolean()};
}

// Threads
// -----------------------------------------------------------------------------------------------------------------

using Pool = std::unique_ptr<farm_pool, decltype(&farm_pool_destroy)>;

/// One pool for each number of threads that the job's artifacts use.
class Pools {
 public:
  explicit Pools(const std::vector<int>& cores) : cores_(cores.begin(), cores.end()) {}
  ~Pools() {
    for (auto& [threads, pool] : pools_) pool.release();  // the process ends anyway, and may no longer end threads
  }
  /// Null when a thread could not be made.
  farm_call_context* with_threads(int threads) {
    auto found = pools_.find(threads);
    if (found == pools_.end()) {
      farm_pool_options options{threads, cores_.data(), [](void*) { use_fault_stack(); }, nullptr};
      found = pools_.emplace(threads, Pool(farm_pool_create(&options), farm_pool_destroy)).first;
      if (found->second) wait_for_set_up(farm_pool_context(found->second.get()), threads);
    }
    return found->second ? farm_pool_context(found->second.get()) : nullptr;
  }
  template <class Function>
  void for_each(Function function) {
    for (auto& [threads, pool] : pools_)
      if (pool) function(farm_pool_context(pool.get()), threads);
  }

 private:
  /// Each worker has pinned and set itself up before its first loop: after one, system calls may be forbidden.
  static void wait_for_set_up(farm_call_context* context, int threads) {
    context->parallel_for(context, threads, [](void*, int64_t, int64_t, int32_t) {}, nullptr);
  }

  std::vector<int32_t> cores_;
  std::map<int, Pool> pools_;
};

static void pin_this_thread(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  sched_setaffinity(0, sizeof set, &set);
}

/// Of all threads of this process: how often the system took a core away.
static long involuntary_switches() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

static double machine_load() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : 0;
}

// One artifact
// --------------------------------------------------------------------------------------------------------------

/// An artifact on its way from loading to its Measurement. After a failure all steps do nothing.
class Subject {
 public:
  Subject(const ChildJob& job, size_t index, farm_call_context* context, double load)
      : job_(job), artifact_(*job.artifacts[index]), index_(static_cast<int32_t>(index)), context_(context) {
    result_.load = load;
    auto cores = job.cores.begin();
    result_.cores.assign(cores, cores + artifact_.threads);
    samples_.reserve(static_cast<size_t>(job.policy.max_samples));
  }

  bool wants_samples() const { return in_the_race() && next_ == Next::More; }
  bool in_the_race() const { return !failed_ && next_ != Next::CutShort; }

  /// Everything up to the first sample: load, prepack, check, warm up.
  void prepare(ChildReport& report) {
    activate(report);
    if (!context_) return fail_with({Outcome::LaunchFailed, "could not make its threads"});
    auto kernel =
        KernelRun::load(artifact_, *job_.inputs[static_cast<size_t>(index_)], context_, index_ * KernelRun::kSlots);
    if (!kernel) return fail_with(kernel.error());
    kernel_.emplace(std::move(*kernel));
    watch_buffers(kernel_->buffers());
    check_and_warm_up();
  }

  /// Between samples: which pages its buffers got is a matter of luck that moves a latency by a percent.
  void change_pages(ChildReport& report) {
    activate(report);
    kernel_->change_pages();
    if (!job_.policy.cold) (void)kernel_->timed_calls(1);
  }

  /// One golden block and one sample.
  void take_sample(ChildReport& report) {
    activate(report);
    if (job_.policy.cold && !kernel_->flush_caches())
      return fail_with({Outcome::LaunchFailed, "caches cannot be flushed on this isa: measure warm"});
    double begin = host_time_ns();
    if (job_.artifacts.size() > 1 && !job_.policy.cold) (void)kernel_->timed_calls(1);  // the others took the caches
    Sample sample;
    sample.golden_ns = time_fma_block(job_.golden, job_.golden_rounds, context_, artifact_.threads);
    long switches = involuntary_switches();
    auto elapsed = kernel_->timed_calls(calls_);
    if (!elapsed) return fail_with(elapsed.error());
    sample.call_ns = *elapsed;
    sample.preempted = involuntary_switches() != switches;
    spent_ns_ += host_time_ns() - begin;
    if (!(sample.call_ns > 0))
      return fail_with({Outcome::Unstable, "the timer read zero over " + std::to_string(calls_) + " calls"});
    samples_.push_back(sample);
    result_.samples_ns.push_back(static_cast<float>(sample.call_ns));
    report.steps = report.steps + 1;
    next_ = next_step(samples_, job_.policy, golden_best(), job_.best_ns,
                      std::chrono::nanoseconds(static_cast<int64_t>(spent_ns_)));
  }

  /// The last words: is the output still right, and what do the samples say? `paired`: from rounds with others.
  Measurement finish(ChildReport& report, const std::optional<Ranking>& paired) {
    activate(report);
    if (!failed_) check();
    if (!failed_) rank(paired ? *paired : rank_samples(samples_, golden_best()));
    return std::move(result_);
  }

  std::span<const Sample> samples() const { return samples_; }
  double spent_budgets() const { return spent_ns_ / static_cast<double>(job_.policy.budget.count()); }
  double golden_best() const { return job_.golden_best_ns[static_cast<size_t>(artifact_.threads - 1)]; }

  /// Smallest golden block among the samples; 0 without any.
  double golden_ns() const { return golden_ns_; }
  int threads() const { return artifact_.threads; }

 private:
  void activate(ChildReport& report) {
    report.active = index_;
    report.steps = report.steps + 1;
    if (kernel_) watch_buffers(kernel_->buffers());
  }
  void fail_with(Fault fault) {
    failed_ = true;
    result_.outcome = fault.outcome;
    result_.detail = std::move(fault.detail);
    result_.latency_ns = result_.median_ns = result_.low_ns = result_.high_ns = 0;
  }

  void check() {
    auto error = kernel_->checked_call(job_.expected, job_.terms, job_.tolerance);
    if (!error) return fail_with(error.error());
    result_.max_error = std::max(result_.max_error, *error);
  }

  void check_and_warm_up() {
    auto prepack_ns = kernel_->prepack();
    if (!prepack_ns) return fail_with(prepack_ns.error());
    result_.prepack_ns = *prepack_ns;
    check();
    if (failed_) return;
    // The check took page faults and cold caches; one call more says how long a call is.
    auto once = kernel_->timed_calls(1);
    if (!once) return fail_with(once.error());
    calls_ = calls_for(*once);
    if (calls_ > 1) (void)kernel_->timed_calls(calls_);
  }

  int64_t calls_for(double call_ns) const {
    if (job_.policy.cold) return 1;
    double wanted = std::ceil(static_cast<double>(job_.policy.sample.count()) / std::max(call_ns, 1.0));
    return static_cast<int64_t>(std::clamp(wanted, 1.0, 1e6));
  }

  void rank(const Ranking& ranking) {
    golden_ns_ = ranking.golden_ns;
    result_.latency_ns = ranking.latency_ns;
    result_.low_ns = ranking.low_ns;
    result_.high_ns = ranking.high_ns;
    result_.median_ns = ranking.median_ns;
    result_.golden_ratio = ranking.golden_ratio;
    result_.preempted = ranking.preempted;
    result_.cut_short = next_ == Next::CutShort;
    if (!job_.times_count) return;
    if (!ranking.stable && !result_.cut_short)
      return fail_with(
          {Outcome::Unstable, fmt::format("no two of {} samples agree within a factor of two, {} of them preempted",
                                          samples_.size(), ranking.preempted)});
    double golden_flops = job_.golden.flops_per_round * static_cast<double>(job_.golden_rounds) * artifact_.threads;
    if (auto impossible = faster_than_physics(artifact_, samples_, golden_best(), golden_flops))
      fail_with({Outcome::WrongResult, *impossible});
  }

  const ChildJob& job_;
  const Artifact& artifact_;
  int32_t index_;
  farm_call_context* context_;
  std::optional<KernelRun> kernel_;
  int64_t calls_ = 1;
  std::vector<Sample> samples_;
  double spent_ns_ = 0, golden_ns_ = 0;
  Next next_ = Next::More;
  bool failed_ = false;
  Measurement result_;
};

// The job
// --------------------------------------------------------------------------------------------------------------------

/// Rankings of those that ran all rounds together; nothing for the others, and for all when there are no two.
static std::vector<std::optional<Ranking>> rank_together(const std::vector<Subject>& subjects) {
  std::vector<std::optional<Ranking>> rankings(subjects.size());
  std::vector<size_t> together;
  std::vector<std::span<const Sample>> samples;
  for (size_t i = 0; i < subjects.size(); ++i) {
    if (!subjects[i].in_the_race() || subjects[i].samples().empty()) continue;
    together.push_back(i);
    samples.push_back(subjects[i].samples());
  }
  if (together.size() < 2) return rankings;
  auto ranked = rank_rounds(samples, subjects[together.front()].golden_best());
  for (size_t i = 0; i < together.size(); ++i) rankings[together[i]] = ranked[i];
  return rankings;
}

/// Whether the intervals of a group are narrow, or its time is over: one budget each, four when rounds are few.
static bool rounds_suffice(const std::vector<Subject>& subjects, const MeasurePolicy& policy) {
  double spent = 0;
  size_t rounds = 0;
  for (const auto& subject : subjects) {
    spent = std::max(spent, subject.spent_budgets());
    rounds = std::max(rounds, subject.samples().size());
  }
  if (rounds < static_cast<size_t>(kLeastRounds)) return spent > 4;
  if (spent > 1 || rounds >= static_cast<size_t>(policy.max_samples)) return true;
  return std::ranges::all_of(rank_together(subjects), [&](const std::optional<Ranking>& ranking) {
    return !ranking || ranking->high_ns - ranking->low_ns <= 2 * policy.interval * ranking->latency_ns;
  });
}

/// Few enough that a group sees its buffers in sixteen places or more.
constexpr size_t kRoundsOnSamePages = 4;

/// Forwards, then backwards: ABBA, so that a slow drift of the machine favours none of them. Nobody stops before the
/// others, except who failed or was cut short.
static void sample_in_rounds(std::vector<Subject>& subjects, const MeasurePolicy& policy, ChildReport& report) {
  std::vector<Subject*> order;
  for (auto& subject : subjects) order.push_back(&subject);
  for (size_t round = 0;; ++round) {
    for (auto* subject : order) {
      if (!subject->in_the_race()) continue;
      if (round > 0 && round % kRoundsOnSamePages == 0) subject->change_pages(report);
      subject->take_sample(report);
    }
    std::ranges::reverse(order);
    if (std::ranges::none_of(subjects, &Subject::in_the_race) || rounds_suffice(subjects, policy)) return;
  }
}

static void sample_alone(Subject& subject, ChildReport& report) {
  while (subject.wants_samples()) subject.take_sample(report);
}

static double smallest_peak_block(const ChildJob& job, farm_call_context* context) {
  double smallest = 0;
  for (int i = 0; i < job.peak_blocks; ++i) {
    double block = time_fma_block(job.golden, job.golden_rounds, context, job.peak_threads);
    smallest = smallest > 0 ? std::min(smallest, block) : block;
  }
  return smallest;
}

ChildReply run_child_job(const ChildJob& job, ChildReport& report) {
  double load = machine_load();
  pin_this_thread(job.cores.front());
  Pools pools(job.cores);
  farm_call_context* peak_context = job.peak_blocks > 0 ? pools.with_threads(job.peak_threads) : nullptr;
  std::vector<Subject> subjects;
  for (size_t i = 0; i < job.artifacts.size(); ++i)
    subjects.emplace_back(job, i, pools.with_threads(job.artifacts[i]->threads), load);
  PriorityBoost priority;
  use_fault_stack();
  report_faults_to(report);
  ChildReply reply;
  reply.filtered = forbid_system_calls();

  for (auto& subject : subjects) subject.prepare(report);
  if (job.times_count)
    pools.for_each([&](farm_call_context* context, int threads) { priority.raise(context, threads); });
  if (peak_context) reply.golden_ns = smallest_peak_block(job, peak_context);
  if (subjects.size() == 1)
    sample_alone(subjects.front(), report);
  else
    sample_in_rounds(subjects, job.policy, report);
  auto together = rank_together(subjects);
  for (size_t i = 0; i < subjects.size(); ++i) {
    Subject& subject = subjects[i];
    reply.measurements.push_back(subject.finish(report, together[i]));
    if (subject.golden_ns() > 0 && subject.threads() == job.peak_threads)
      reply.golden_ns = reply.golden_ns > 0 ? std::min(reply.golden_ns, subject.golden_ns()) : subject.golden_ns();
  }
  return reply;
}

}  // namespace farm
