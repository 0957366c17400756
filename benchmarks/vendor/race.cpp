#include "benchmarks/vendor/race.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

namespace farm::vendor {
namespace {

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// How often a thread of this process lost its core to somebody else.
long preemptions() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

struct Samples {
  int calls = 1;                         // a sample: several when one is short
  std::vector<double> clean, disturbed;  // seconds a call
};

double max_error(const Contender& contender, const Reference& reference) {
  std::vector<float> out(reference.output.size(), std::numeric_limits<float>::quiet_NaN());
  contender.fetch(out.data());
  double worst = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    double error = std::fabs(double(out[i]) - reference.output[i]) / std::max(1e-30, double(reference.terms[i]));
    if (!(error <= worst)) worst = error;  // NaN counts as the worst
  }
  return worst;
}

int calls_a_sample(const Contender& contender) {
  double once = 1e9;
  for (int i = 0; i < 5; ++i) {
    double begin = now_s();
    contender.run();
    once = std::min(once, now_s() - begin);
  }
  return std::clamp(int(0.0005 / std::max(once, 1e-8)), 1, 2000);
}

void take_slice(const Contender& contender, const RaceRules& rules, Samples& samples) {
  std::this_thread::sleep_for(std::chrono::duration<double>(rules.settle_s));
  for (int i = 0; i < std::max(2, samples.calls / 2); ++i) contender.run();
  double slice_begin = now_s();
  for (int n = 0; n < 3 || now_s() - slice_begin < rules.slice_s; ++n) {
    long before = preemptions();
    double begin = now_s();
    for (int i = 0; i < samples.calls; ++i) contender.run();
    double seconds = (now_s() - begin) / samples.calls;
    (preemptions() == before ? samples.clean : samples.disturbed).push_back(seconds);
  }
}

Lap summarize(Samples& samples) {
  auto& taken = samples.clean.empty() ? samples.disturbed : samples.clean;
  std::ranges::sort(taken);
  return {.min_ms = taken.front() * 1e3, .median_ms = taken[taken.size() / 2] * 1e3, .samples = int(taken.size())};
}

}  // namespace

std::vector<Lap> race(const Contenders& contenders, const Reference& reference, const RaceRules& rules) {
  std::vector<Samples> samples(contenders.size());
  std::vector<double> errors(contenders.size());
  for (size_t i = 0; i < contenders.size(); ++i) {
    contenders[i].run();
    errors[i] = max_error(contenders[i], reference);
    samples[i].calls = calls_a_sample(contenders[i]);
  }
  for (int round = 0; round < rules.rounds; ++round) {
    for (size_t i = 0; i < contenders.size(); ++i) take_slice(contenders[i], rules, samples[i]);
  }
  std::vector<Lap> laps;
  for (size_t i = 0; i < contenders.size(); ++i) {
    laps.push_back(summarize(samples[i]));
    laps.back().max_error = errors[i];
  }
  return laps;
}

}  // namespace farm::vendor
