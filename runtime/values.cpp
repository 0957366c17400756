#include <fmt/format.h>

#include <array>

#include "base/rng.h"
#include "runtime/encoding.h"
#include "runtime/runtime.h"

namespace farm {

Hash artifact_hash(const Artifact& artifact) { return hash_bytes(to_bytes(artifact)); }

static constexpr std::array<std::string_view, 8> kOutcomeWords = {
    "ok", "build_failed", "launch_failed", "wrong_result", "out_of_bounds", "timeout", "crashed", "unstable"};

std::string to_string(Outcome outcome) { return std::string(kOutcomeWords.at(static_cast<size_t>(outcome))); }

std::optional<Outcome> outcome_from_string(std::string_view word) {
  for (size_t i = 0; i < kOutcomeWords.size(); ++i)
    if (kOutcomeWords[i] == word) return static_cast<Outcome>(i);
  return std::nullopt;
}

static std::string milliseconds(std::chrono::nanoseconds duration) {
  return fmt::format("{}ms", static_cast<double>(duration.count()) * 1e-6);
}

std::string MeasurePolicy::text() const {
  return fmt::format("{} statistic=min budget={} sample={} min={} max={} interval={} cut={}", cold ? "cold" : "warm",
                     milliseconds(budget), milliseconds(sample), min_samples, max_samples, interval, cut_factor);
}

static std::vector<float> random_tensor(Rng rng, int64_t elements) {
  std::vector<float> values(static_cast<size_t>(elements));
  for (size_t i = 0; i < values.size(); i += 2) {
    uint64_t word = rng.next();
    // 24 signed bits and 23 places after the point: exact in float32, so equal on every host.
    for (size_t j = i; j < std::min(i + 2, values.size()); ++j, word >>= 32)
      values[j] = static_cast<float>(static_cast<int32_t>(word & 0xffffff) - 0x800000) * 0x1p-23f;
  }
  return values;
}

std::vector<std::vector<float>> make_inputs(uint64_t seed, const std::vector<TensorType>& types) {
  std::vector<std::vector<float>> inputs;
  for (const auto& type : types)
    inputs.push_back(random_tensor(Rng(seed).fork("input " + std::to_string(inputs.size())), type.elements()));
  return inputs;
}

}  // namespace farm
