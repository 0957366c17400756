// Door of the room `cost_model`: which candidate will be fast, learned from those that were measured.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "schedule/schedule.h"
#include "target/target.h"

namespace farm {

/// Raised whenever the meaning of a column changes; stored with a saved model.
inline constexpr int kFeatureVersion = 1;

/// Features of one program: one row a store, all rows of equal width (`feature_names().size()` for nests; a model takes
/// any width, as long as it stays the same). Column 0 is the row's weight: the heaviest row speaks for the program.
using FeatureRows = std::vector<std::vector<float>>;
const std::vector<std::string>& feature_names();

/// `module` from instantiate_for_features (or Program::scheduled resolved): loop kinds visible, indices flat.
FeatureRows extract_features(const Module& module, const Target& target, int threads);

/// What is known of one measured candidate.
struct Example {
  FeatureRows features;
  double latency_ns = 0;  ///< 0: failed for a reason of its own (learned as the slowest)
  std::string task;       ///< latencies are only compared within a task
};

/// How well a model ranks candidates it has not seen (prequential: predicted before learned).
struct ModelQuality {
  double pairwise = 0;  ///< share of pairs in the right order, 0.5 is chance
  double peak1 = 0;     ///< best latency / latency of the predicted best
  double peak5 = 0;     ///< the same for the best of the predicted five
  size_t examples = 0;
};

class CostModel {
 public:
  virtual ~CostModel() = default;
  /// Replaces what was known. Deterministic for equal examples.
  virtual Status fit(std::span<const Example> examples) = 0;
  virtual bool trained() const = 0;
  /// Higher is faster; comparable within one task.
  virtual std::vector<double> predict(std::span<const FeatureRows> programs) const = 0;
  /// Model file with its feature version; load refuses another version by name.
  virtual Result<std::vector<std::byte>> save() const = 0;
  virtual Status load(std::span<const std::byte> bytes) = 0;
};

/// Gradient-boosted trees by XGBoost's C API, one thread.
std::unique_ptr<CostModel> make_xgboost_model(uint64_t seed);

ModelQuality judge(std::span<const double> predicted, std::span<const double> latency_ns);

}  // namespace farm
