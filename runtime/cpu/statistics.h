// From raw samples to the number that candidates are ranked by. Pure functions.
//
// The statistic. On a shared machine noise only adds time, so a kernel is ranked by the *minimum* of its undisturbed
// samples; a sample is disturbed when the system took a core away from one of its threads. What a minimum cannot see is
// a device that is slow throughout; the golden kernel does, a block of which runs before each sample: its minimum,
// divided by the best that this device ever showed, is the drift. Drift beyond kDriftTolerance is taken out of the
// latency (and of the peak, alike); below it there is nothing to correct but noise.
//
// The interval. [latency - h, latency + h], where h is the distance from the smallest to the third smallest undisturbed
// sample: three samples that agree within h are evidence of a floor, and another window's minimum is expected within
// it.
#pragma once
#include <chrono>
#include <span>
#include <vector>

#include "runtime/measurement.h"

namespace farm {

inline constexpr double kDriftTolerance = 1.02;

struct Sample {
  double call_ns = 0;    ///< mean over the calls of the sample
  double golden_ns = 0;  ///< the golden block just before it
  bool preempted = false;
};

struct Ranking {
  double latency_ns = 0, low_ns = 0, high_ns = 0, median_ns = 0;
  double golden_ns = 0;     ///< smallest
  double golden_ratio = 1;  ///< to the device's best; at least 1
  int preempted = 0;
  bool stable = false;  ///< at least two undisturbed samples agree within a factor of two
};

/// `golden_best_ns`: of this device and number of threads; 0 when unknown. At least one sample.
Ranking rank_samples(std::span<const Sample> samples, double golden_best_ns);

/// Least rounds of an interleaved group, whatever the policy says: they bring the error of a ratio below a percent even
/// where single samples of one kernel differ by half.
inline constexpr int kLeastRounds = 64;

/// Of artifacts that were sampled in rounds, one sample each a round. What disturbs a round disturbs all of it alike,
/// so ratios within rounds are trusted where absolute times are not. The fastest is the artifact with the smallest share
/// of a round (its sample over the round's geometric mean, and of these the mean of the middle half); its latency is its
/// own minimum, which no other artifact's luck can move, and the others' are that times the ratio of the shares. The
/// interval is the one of the share at 95 %. All lists are of one size, at least 1.
std::vector<Ranking> rank_rounds(const std::vector<std::span<const Sample>>& artifacts, double golden_best_ns);

/// By how much times are divided (and rates multiplied) for a drift: 1 below the tolerance.
double drift_correction(double golden_ratio);

enum class Next { More, Enough, CutShort };

/// Whether to go on sampling: enough when the interval is narrow or the budget spent (samples beyond it only while
/// there are fewer than the policy's least number, up to four budgets, or no two agree, up to ten); cut short when the
/// latency is surely beyond cut_factor x best: three undisturbed samples above it, or one (or any three) above four
/// times that.
Next next_step(std::span<const Sample> samples, const MeasurePolicy& policy, double golden_best_ns, double best_ns,
               std::chrono::nanoseconds elapsed);

}  // namespace farm
