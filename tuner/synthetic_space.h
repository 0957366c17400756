// A space whose latencies follow from a formula: strategies are judged on it without measuring anything.
#pragma once
#include <memory>

#include "schedule/schedule.h"
#include "tuner/strategy.h"

namespace farm::synthetic {

/// Tiled matrix products of 96 x 96 x 96 with six decisions, about 14,000 candidates in two variants. `options` keeps
/// only so many options of each decision, for spaces that can be exhausted.
std::shared_ptr<const ScheduleSpace> make_space(size_t options = 100);

/// What such a candidate would take, noise and a few failures (0) included: a pure function of the candidate.
double latency_ns(const Candidate& candidate);

/// The least latency of the whole space.
double best_latency_ns(const ScheduleSpace& space);

/// Asks the strategy for `trials` candidates, `batch` at a time, and measures them by the formula.
std::vector<Known> tune(Strategy& strategy, const ScheduleSpace& space, uint64_t seed, size_t trials, size_t batch,
                        std::vector<Known> known = {});

/// best latency found / least latency of the space: 1 is all there is.
double share_reached(const std::vector<Known>& known, double best_ns);

}  // namespace farm::synthetic
