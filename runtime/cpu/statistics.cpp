#include "runtime/cpu/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace farm {

/// Sorted times of the undisturbed samples; of all when hardly one was left alone, since some number is needed.
static std::vector<double> usable_times(std::span<const Sample> samples) {
  std::vector<double> times;
  for (const auto& sample : samples)
    if (!sample.preempted) times.push_back(sample.call_ns);
  if (times.size() < std::min<size_t>(3, samples.size())) {
    times.clear();
    for (const auto& sample : samples) times.push_back(sample.call_ns);
  }
  std::ranges::sort(times);
  return times;
}

static double median(const std::vector<double>& sorted) {
  size_t middle = sorted.size() / 2;
  return sorted.size() % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/// Distance to the third smallest; all that there is with fewer, twice over since it says less.
static double half_width(const std::vector<double>& sorted) {
  if (sorted.size() >= 3) return sorted[2] - sorted[0];
  return sorted.size() == 2 ? 2 * (sorted[1] - sorted[0]) : sorted[0];
}

static double smallest_golden(std::span<const Sample> samples) {
  double smallest = std::numeric_limits<double>::infinity();
  for (const auto& sample : samples)
    if (sample.golden_ns > 0) smallest = std::min(smallest, sample.golden_ns);
  return std::isfinite(smallest) ? smallest : 0;
}

double drift_correction(double golden_ratio) { return std::max(1.0, golden_ratio / kDriftTolerance); }

Ranking rank_samples(std::span<const Sample> samples, double golden_best_ns) {
  FARM_ASSERT(!samples.empty(), "there is nothing to rank");
  std::vector<double> times = usable_times(samples);
  Ranking ranking;
  ranking.preempted = static_cast<int>(std::ranges::count_if(samples, &Sample::preempted));
  ranking.golden_ns = smallest_golden(samples);
  if (golden_best_ns > 0) ranking.golden_ratio = std::max(1.0, ranking.golden_ns / golden_best_ns);
  double drift = drift_correction(ranking.golden_ratio);
  double half = half_width(times) / drift;
  ranking.latency_ns = times[0] / drift;
  ranking.low_ns = std::max(0.0, ranking.latency_ns - half);
  ranking.high_ns = ranking.latency_ns + half;
  ranking.median_ns = median(times) / drift;
  ranking.stable = times.size() >= 2 && times[1] <= 2 * times[0];
  return ranking;
}

static std::vector<double> round_means(const std::vector<std::span<const Sample>>& artifacts) {
  std::vector<double> means(artifacts.front().size());
  for (size_t round = 0; round < means.size(); ++round) {
    double sum = 0;
    for (const auto& samples : artifacts) sum += std::log(samples[round].call_ns);
    means[round] = std::exp(sum / static_cast<double>(artifacts.size()));
  }
  return means;
}

/// Mean of the middle half: as deaf to outliers as the median, and nearer to the truth by a fifth for equal rounds.
static double midmean(const std::vector<double>& sorted) {
  size_t cut = sorted.size() / 4;
  double sum = std::accumulate(sorted.begin() + static_cast<long>(cut), sorted.end() - static_cast<long>(cut), 0.0);
  return sum / static_cast<double>(sorted.size() - 2 * cut);
}

/// Half of the 95 % interval of a midmean (Tukey and McLaughlin): from the spread of the values with both outer
/// quarters drawn in to the middle half's ends.
static double midmean_half_width(const std::vector<double>& sorted) {
  size_t cut = sorted.size() / 4, kept = sorted.size() - 2 * cut;
  if (kept < 3) return sorted.back() - sorted.front();
  double low = sorted[cut], high = sorted[sorted.size() - 1 - cut], sum = 0, squares = 0;
  for (double value : sorted) {
    double drawn_in = std::clamp(value, low, high);
    sum += drawn_in, squares += drawn_in * drawn_in;
  }
  auto count = static_cast<double>(sorted.size()), middle = static_cast<double>(kept);
  double variance = std::max(0.0, (squares - sum * sum / count) / (middle * (middle - 1)));
  return 2.1 * std::sqrt(variance);
}

/// Of an artifact's samples, each over the geometric mean of its round; sorted.
static std::vector<double> shares_of_rounds(std::span<const Sample> samples, const std::vector<double>& means) {
  std::vector<double> shares;
  for (size_t round = 0; round < means.size(); ++round) shares.push_back(samples[round].call_ns / means[round]);
  std::ranges::sort(shares);
  return shares;
}

std::vector<Ranking> rank_rounds(const std::vector<std::span<const Sample>>& artifacts, double golden_best_ns) {
  std::vector<double> means = round_means(artifacts), shares, half_widths;
  std::vector<Ranking> rankings;
  for (const auto& samples : artifacts) {
    std::vector<double> sorted = shares_of_rounds(samples, means);
    shares.push_back(midmean(sorted));
    half_widths.push_back(midmean_half_width(sorted));
    rankings.push_back(rank_samples(samples, golden_best_ns));
  }
  double golden_ratio = std::ranges::min(rankings, {}, &Ranking::golden_ratio).golden_ratio;
  auto fastest = static_cast<size_t>(std::ranges::min_element(shares) - shares.begin());
  double floor = rankings[fastest].latency_ns / shares[fastest];
  for (size_t i = 0; i < rankings.size(); ++i) {
    rankings[i].latency_ns = floor * shares[i];
    rankings[i].low_ns = floor * std::max(0.0, shares[i] - half_widths[i]);
    rankings[i].high_ns = floor * (shares[i] + half_widths[i]);
    rankings[i].golden_ratio = golden_ratio;
  }
  return rankings;
}

static bool surely_slower(const Ranking& ranking, size_t samples, double limit_ns) {
  size_t undisturbed = samples - static_cast<size_t>(ranking.preempted);
  if (limit_ns <= 0) return false;
  return (undisturbed >= 3 && ranking.latency_ns > limit_ns) ||
         ((undisturbed >= 1 || samples >= 3) && ranking.latency_ns > 4 * limit_ns);
}

Next next_step(std::span<const Sample> samples, const MeasurePolicy& policy, double golden_best_ns, double best_ns,
               std::chrono::nanoseconds elapsed) {
  if (samples.empty()) return Next::More;
  Ranking ranking = rank_samples(samples, golden_best_ns);
  size_t undisturbed = samples.size() - static_cast<size_t>(ranking.preempted);
  if (surely_slower(ranking, samples.size(), policy.cut_factor * best_ns)) return Next::CutShort;

  bool plenty = undisturbed >= static_cast<size_t>(policy.min_samples);
  bool narrow = ranking.high_ns - ranking.latency_ns <= policy.interval * ranking.latency_ns;
  if (plenty && narrow) return Next::Enough;
  if (samples.size() >= static_cast<size_t>(policy.max_samples)) return Next::Enough;
  if (elapsed >= (ranking.stable ? 4 : 10) * policy.budget && samples.size() >= 3) return Next::Enough;
  if (elapsed >= policy.budget && plenty && ranking.stable) return Next::Enough;
  return Next::More;
}

}  // namespace farm
