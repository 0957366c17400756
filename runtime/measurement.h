// What a device is asked to measure and what it answers. Values only; they cross the wire.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "runtime/artifact.h"
#include "target/target.h"

namespace farm {

/// What became of a candidate: data, stored and learned from. The JSON word is in brackets.
enum class Outcome : uint8_t {
  Ok,            ///< [ok]
  BuildFailed,   ///< [build_failed] no code came out
  LaunchFailed,  ///< [launch_failed] could not be loaded or started
  WrongResult,   ///< [wrong_result] beyond the tolerance, or faster than physics allows
  OutOfBounds,   ///< [out_of_bounds] wrote into a guard zone or faulted at one
  Timeout,       ///< [timeout] did not end within its limit
  Crashed,       ///< [crashed] died of a signal
  Unstable,      ///< [unstable] no two samples agree
};
std::string to_string(Outcome outcome);
std::optional<Outcome> outcome_from_string(std::string_view word);

/// How a kernel is timed: part of the key of a record, so that unlike measurements are never compared.
struct MeasurePolicy {
  std::chrono::nanoseconds budget{40'000'000};  ///< time spent on samples of one artifact
  std::chrono::nanoseconds sample{1'000'000};   ///< least duration of one sample (several calls when shorter)
  int min_samples = 7;
  int max_samples = 200;
  double interval = 0.01;   ///< stop early once the interval's half-width is below this share of the latency
  double cut_factor = 2.0;  ///< stop once surely slower than cut_factor x MeasureRequest::best_ns
  std::chrono::nanoseconds timeout{5'000'000'000};  ///< one artifact, all included; the device ends it by itself;
                                                    ///< not in text(), since it changes no time that counts
  bool cold = false;  ///< flush the caches before each sample (recorded, not yet offered by tune)

  /// "warm statistic=min budget=40ms sample=1ms ...": the text that is stored and compared.
  std::string text() const;
  bool operator==(const MeasurePolicy&) const = default;
};

/// Inputs are made on the device from a seed (`make_inputs`), the expected output is shipped once by content hash.
struct InputSet {
  uint64_t seed = 0;
  Hash expected;            ///< blob: float32 output, row-major
  Hash terms;               ///< blob: float32 sum |terms| of each output element
  double tolerance = 1e-5;  ///< largest |error| / terms
  bool operator==(const InputSet&) const = default;
};

/// A list of artifacts and how to time them together.
struct MeasureRequest {
  std::vector<Artifact> artifacts;
  InputSet inputs;
  MeasurePolicy policy;
  double best_ns = 0;         ///< best latency known, for cutting losers short; 0: none
  bool interleave = false;    ///< ABBA rounds over all artifacts in one fresh process (finals), at least 64 where four
                              ///< budgets last, ranked by their ratios within rounds; else one after another, each in a
                              ///< process of its own, ranked by the minimum
  bool measure_peak = false;  ///< also run the best FMA loop on the same cores, for share_of_peak
};

/// Whose time a device tells: "host", or "host under emulation", which is comparable to nothing.
inline std::string clock_of(const Target& device) { return device.emulated ? "host under emulation" : "host"; }

/// One artifact's answer. Times in nanoseconds of the device's clock.
struct Measurement {
  Outcome outcome = Outcome::Ok;
  std::string detail;     ///< why it failed: "signal 11 (SIGSEGV) at ...", "max error 3.1e-2 of sum|terms| at 17"
  double latency_ns = 0;  ///< ranking statistic; 0 when it failed
  double median_ns = 0;
  double low_ns = 0, high_ns = 0;  ///< interval of latency_ns
  double prepack_ns = 0;
  std::vector<float> samples_ns;  ///< all of them, in order, per call
  int preempted = 0;              ///< samples set aside because a thread was preempted
  bool cut_short = false;         ///< surely slower than cut_factor x best
  double max_error = 0;           ///< in units of sum|terms|
  double load = 0;                ///< processes that wanted a core when it began (the machine's 1-minute average)
  double golden_ratio = 1;        ///< drift of the interleaved reference kernel during this measurement, 1 = none
  std::string clock = "host";     ///< clock_of the device; unlike clocks are never compared
  std::vector<int> cores;         ///< that it was pinned to

  bool operator==(const Measurement&) const = default;
};

struct MeasureReply {
  std::vector<Measurement> measurements;  ///< one an artifact, in order
  double peak_gflops = 0;                 ///< of all pinned cores together, when asked for
};

/// Inputs for a seed: float32 uniform in [-1, 1), the same on every host; one array a tensor, whose values depend on
/// the seed and its place in the list. A device lists the artifact's `inputs`, then its `constants`; whoever computes
/// the expected output must list them in that order too.
std::vector<std::vector<float>> make_inputs(uint64_t seed, const std::vector<TensorType>& types);

}  // namespace farm
