#include "runtime/cpu/statistics.h"

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "testing.h"

using namespace farm;

static std::vector<Sample> samples_of(std::vector<double> times, double golden = 100) {
  std::vector<Sample> samples;
  for (double time : times) samples.push_back({time, golden, false});
  return samples;
}

TEST_CASE("the smallest undisturbed sample ranks, the third smallest makes the interval") {
  auto samples = samples_of({1030, 1000, 1500, 1010, 1020});
  samples.push_back({500, 100, true});  // set aside although it is the smallest
  Ranking ranking = rank_samples(samples, 100);
  CHECK(ranking.latency_ns == 1000);
  CHECK(ranking.low_ns == 980);
  CHECK(ranking.high_ns == 1020);
  CHECK(ranking.median_ns == 1020);
  CHECK(ranking.preempted == 1);
  CHECK(ranking.golden_ratio == 1);
  CHECK(ranking.stable);
}

TEST_CASE("drift beyond the tolerance is taken out, below it is left alone") {
  CHECK(rank_samples(samples_of({1000, 1000, 1000}, 101), 100).latency_ns == 1000);
  Ranking slow = rank_samples(samples_of({2000, 2000, 2000}, 204), 100);
  CHECK(slow.golden_ratio == Approx(2.04));
  CHECK(slow.latency_ns == Approx(1000));
  CHECK(rank_samples(samples_of({1000, 1000, 1000}, 90), 100).golden_ratio == 1);  // a new best, not a drift
  CHECK(rank_samples(samples_of({1000, 1000, 1000}, 300), 0).latency_ns == 1000);  // nothing to compare with
}

TEST_CASE("samples of which no two agree are not stable, and a single one is not either") {
  CHECK_FALSE(rank_samples(samples_of({1000, 2100, 4300, 9000}), 0).stable);
  CHECK_FALSE(rank_samples(samples_of({1000}), 0).stable);
  CHECK(rank_samples(samples_of({1000, 1400, 9000}), 0).stable);
}

TEST_CASE("when hardly a sample was left alone, all of them count") {
  auto samples = samples_of({1000, 1100, 1200, 1300});
  for (auto& sample : samples) sample.preempted = true;
  Ranking ranking = rank_samples(samples, 0);
  CHECK(ranking.latency_ns == 1000);
  CHECK(ranking.preempted == 4);
}

TEST_CASE("in rounds what disturbs all alike disturbs no ratio") {
  Rng rng(9);
  std::vector<Sample> a, b;
  for (int round = 0; round < kLeastRounds; ++round) {
    double mode = rng.chance(0.7) ? 1.5 : 1.0;  // a slow neighbour, most of the time
    a.push_back({1000 * mode, 100, false});
    b.push_back({1050 * mode, 100, false});
  }
  auto rankings = rank_rounds({a, b}, 100);
  CHECK(rankings[1].latency_ns / rankings[0].latency_ns == Approx(1.05));
  CHECK(rankings[0].latency_ns == Approx(1000));
  CHECK(rankings[0].low_ns == Approx(rankings[0].high_ns));
}

TEST_CASE("rounds that disturb one artifact alone do not move it while they are fewer than a quarter, more widen it") {
  std::vector<Sample> a(30, {1000, 100, false}), b = a;
  for (int round = 0; round < 7; ++round) b[static_cast<size_t>(round)].call_ns = 3000;
  auto rankings = rank_rounds({a, b}, 100);
  CHECK(rankings[1].latency_ns == Approx(rankings[0].latency_ns));
  CHECK(rankings[1].low_ns == Approx(rankings[1].high_ns));
  for (int round = 7; round < 13; ++round) b[static_cast<size_t>(round)].call_ns = 3000;
  auto wide = rank_rounds({a, b}, 100)[1];
  CHECK(wide.high_ns - wide.low_ns > 0.2 * wide.latency_ns);
  CHECK(wide.low_ns < wide.latency_ns);
}

TEST_CASE("two equal artifacts under noise of half a latency differ by less than a percent in rounds") {
  Rng rng(11);
  std::vector<double> differences;
  for (int repeat = 0; repeat < 101; ++repeat) {
    std::vector<Sample> a, b;
    for (int round = 0; round < kLeastRounds; ++round) {
      double mode = 1000 * (1 + 0.5 * rng.uniform());
      a.push_back({mode * (1 + 0.06 * rng.uniform()), 100, false});
      b.push_back({mode * (1 + 0.06 * rng.uniform()), 100, false});
    }
    auto rankings = rank_rounds({a, b}, 100);
    differences.push_back(std::abs(rankings[0].latency_ns / rankings[1].latency_ns - 1));
  }
  std::ranges::sort(differences);
  CHECK(differences[50] < 0.005);
  CHECK(differences[90] < 0.012);
}

TEST_CASE("the floor of a group needs no round in which all are left alone") {
  std::vector<Sample> a(40, {1500, 100, false}), b = a;
  a[3].call_ns = 1000;
  b[8].call_ns = 1000;
  auto rankings = rank_rounds({a, b}, 100);
  CHECK(rankings[0].latency_ns == Approx(1000));
  CHECK(rankings[1].latency_ns == Approx(1000));
}

TEST_CASE("in rounds the fastest is never said to be faster than its own best sample") {
  std::vector<Sample> fast(40, {1000, 100, false}), slow(40, {2000, 100, false});
  for (size_t round = 0; round < 40; round += 8) slow[round].call_ns = 1200;  // a second mode, seldom
  auto rankings = rank_rounds({slow, fast}, 100);
  CHECK(rankings[1].latency_ns == Approx(1000));
  CHECK(rankings[0].latency_ns == Approx(2000));
}

TEST_CASE("a single artifact in rounds is ranked by its floor") {
  auto samples = samples_of({1200, 1000, 1100});
  CHECK(rank_rounds({samples}, 100)[0].latency_ns == Approx(1000));
}

using std::chrono::milliseconds;

TEST_CASE("sampling ends early when the interval is narrow, and goes on while it is not") {
  MeasurePolicy policy;
  CHECK(next_step(samples_of({1000, 1001, 1002}), policy, 0, 0, milliseconds(1)) == Next::More);  // too few
  auto narrow = samples_of({1000, 1001, 1002, 1003, 1004, 1005, 2000});
  CHECK(next_step(narrow, policy, 0, 0, milliseconds(1)) == Next::Enough);
  auto wide = samples_of({1000, 1100, 1200, 1300, 1400, 1500, 2000});
  CHECK(next_step(wide, policy, 0, 0, milliseconds(1)) == Next::More);
}

TEST_CASE("the budget and the cap end sampling whatever the interval is") {
  MeasurePolicy policy;
  auto wide = samples_of({1000, 1100, 1200, 1300, 1400, 1500, 2000});
  CHECK(next_step(wide, policy, 0, 0, policy.budget) == Next::Enough);
  policy.max_samples = 7;
  CHECK(next_step(wide, policy, 0, 0, milliseconds(1)) == Next::Enough);
  MeasurePolicy plain;
  auto few = samples_of({1000, 1100, 1200});
  CHECK(next_step(few, plain, 0, 0, plain.budget) == Next::More);  // fewer than the least number
  CHECK(next_step(few, plain, 0, 0, 4 * plain.budget) == Next::Enough);
  auto unstable = samples_of({1000, 2100, 4300, 9000});
  CHECK(next_step(unstable, plain, 0, 0, 4 * plain.budget) == Next::More);
  CHECK(next_step(unstable, plain, 0, 0, 10 * plain.budget) == Next::Enough);
}

TEST_CASE("who is surely slower than the best is cut short, who may not be is not") {
  MeasurePolicy policy;
  CHECK(next_step(samples_of({2100, 2200, 2300}), policy, 0, 1000, milliseconds(1)) == Next::CutShort);
  CHECK(next_step(samples_of({2100, 2200}), policy, 0, 1000, milliseconds(1)) == Next::More);
  CHECK(next_step(samples_of({1900, 2200, 2300}), policy, 0, 1000, milliseconds(1)) == Next::More);
  CHECK(next_step(samples_of({9000}), policy, 0, 1000, milliseconds(1)) == Next::CutShort);
  auto preempted = samples_of({9000});
  preempted[0].preempted = true;
  CHECK(next_step(preempted, policy, 0, 1000, milliseconds(1)) == Next::More);
  preempted.resize(3, preempted[0]);
  CHECK(next_step(preempted, policy, 0, 1000, milliseconds(1)) == Next::CutShort);
  CHECK(next_step(samples_of({9000}), policy, 0, 0, milliseconds(1)) == Next::More);  // no best yet
}

TEST_CASE("under noise that only adds time two windows of one kernel differ by less than a percent at the median") {
  Rng rng(5);
  auto window = [&] {
    std::vector<Sample> samples;
    MeasurePolicy policy;
    while (next_step(samples, policy, 100, 0, milliseconds(samples.size())) == Next::More) {
      double noise = rng.chance(0.3) ? 0.3 * rng.uniform() : 0.01 * rng.uniform();
      samples.push_back({1000 * (1 + noise), 100 * (1 + 0.01 * rng.uniform()), false});
    }
    return rank_samples(samples, 100).latency_ns;
  };
  std::vector<double> differences;
  for (int i = 0; i < 101; ++i) differences.push_back(std::abs(window() / window() - 1));
  std::ranges::sort(differences);
  CHECK(differences[50] < 0.01);
}
