// Times contenders against each other: slices of each in turn, so that what disturbs one disturbs all.
#pragma once
#include "benchmarks/vendor/contender.h"

namespace farm::vendor {

struct RaceRules {
  int rounds = 8;
  double slice_s = 0.02;   ///< of one contender in one round
  double settle_s = 0.1;   ///< before a slice: OpenBLAS's idle workers stay on their cores for some 30 ms
};

struct Lap {
  double min_ms = 0, median_ms = 0;
  double max_error = 0;  ///< in units of sum |terms|, of the last output
  int samples = 0;       ///< undisturbed ones, or all when there were none
};

/// One lap a contender, in order. A contender's error is judged, not hidden: see Contender::tolerance.
std::vector<Lap> race(const Contenders& contenders, const Reference& reference, const RaceRules& rules);

}  // namespace farm::vendor
