// The space of schedules of a task on a target: variants with named decisions, and one point of it.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "base/rng.h"
#include "schedule/loop_nest.h"
#include "target/target.h"

namespace farm {

/// One named decision with a finite domain; its options are integers (tile sizes, unroll bounds, orders by number).
struct Decision {
  std::string name;
  std::vector<int64_t> options;
};

/// One point of a space. Canonical text: "direct{tile_k=16,tile_x=7,parallel=1}": the variant, then every decision in
/// the space's order. The text is the same everywhere: command line, database, JSON, wire.
struct Candidate {
  std::string variant;
  std::vector<std::pair<std::string, int64_t>> choices;

  std::string text() const;
  Hash hash() const { return hash_text(text()); }
  int64_t choice(std::string_view name) const;  ///< asserts that it is there
  bool operator==(const Candidate&) const = default;
};
Result<Candidate> candidate_from_text(std::string_view text);

/// A way to compute the task: its decisions, constraints and the program of primitives that they steer.
struct Variant {
  std::string name;
  std::vector<Decision> decisions;
  /// False for combinations that cannot work or would be absurd (register tile far beyond the registers).
  std::function<bool(const Candidate&)> allowed;
  /// Applies the primitives; the scheduled (not yet lowered) module and the trace of primitives with arguments.
  std::function<Result<Module>(const Candidate&, std::vector<std::string>& trace)> apply;
};

/// Immutable after making; safe to share between threads.
class ScheduleSpace {
 public:
  ScheduleSpace(Task task, Target target, int threads, std::vector<Variant> variants, Candidate fallback);

  const Task& task() const { return task_; }
  const Target& target() const { return target_; }
  int threads() const { return threads_; }
  const std::vector<Variant>& variants() const { return variants_; }
  const Variant* variant(std::string_view name) const;

  /// Chosen from the device's description without measuring: what compile uses when there is no record.
  const Candidate& default_candidate() const { return default_; }

  /// Number of combinations before constraints, over all variants.
  double size() const;
  bool contains(const Candidate& candidate) const;  ///< known names and options, and allowed
  /// Uniform over variants, then over options; nothing after too many rejected draws.
  std::optional<Candidate> sample(Rng& rng) const;
  /// The n-th combination in a fixed order over all variants (0 <= n < size()); may be not allowed.
  Candidate at(uint64_t n) const;

 private:
  Task task_;
  Target target_;
  int threads_;
  std::vector<Variant> variants_;
  Candidate default_;
};

/// The space of a task. Fails only for a task whose op has no template.
Result<std::shared_ptr<const ScheduleSpace>> make_space(const Task& task, const Target& target, int threads);

/// What a candidate becomes.
struct Program {
  Module scheduled;                ///< loop kinds still visible: what features are taken from
  Module lowered;                  ///< what code generators read
  std::vector<std::string> trace;  ///< executed primitives with arguments
  Hash hash;                       ///< of `lowered`
};
Result<Program> instantiate(const ScheduleSpace& space, const Candidate& candidate);

/// The scheduled module with blocks resolved to plain loops (kinds kept, flat indices, guards simplified), without
/// vectorising or unrolling: cheap, and all that features need. `instantiate` goes on from here.
Result<Module> instantiate_for_features(const ScheduleSpace& space, const Candidate& candidate);

}  // namespace farm
