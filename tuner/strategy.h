// A search strategy proposes candidates. Proposals are a pure function of seed, space and the ordered records known.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "cost_model/cost_model.h"
#include "schedule/schedule.h"

namespace farm {

/// One measured candidate, as a strategy sees it. Failed ones have latency_ns 0.
struct Known {
  Candidate candidate;
  Hash program;  ///< of the lowered program
  double latency_ns = 0;
};

/// What a batch is proposed from. `known` is in the order in which records were stored.
struct SearchState {
  const ScheduleSpace& space;  ///< lives as long as the strategy is asked about it
  const std::vector<Known>& known;
  uint64_t seed = 0;
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  /// Up to `count` candidates that are new (neither known nor, as lowered programs, equal to a known one). Fewer, or
  /// none, only when the space has no more. The order is the order to measure in.
  virtual std::vector<Candidate> propose(const SearchState& state, size_t count) = 0;
  /// Quality of the model on candidates it had not seen; nothing for strategies without one or before it is trained.
  virtual std::optional<ModelQuality> model_quality() const { return std::nullopt; }
  /// Seconds spent in propose on learning (the rest of propose's time is searching).
  virtual double learn_seconds() const { return 0; }
};

/// "evolutionary" (guided by the cost model), "random", "grid". Fails with the nearest names.
Result<std::unique_ptr<Strategy>> make_strategy(std::string_view name);
std::vector<std::string> strategy_names();

}  // namespace farm
