// One whole run of the real tune with a database that goes away, for benchmarks that judge what a user gets.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "base/result.h"

namespace farm {

struct TuneSettings {
  std::string task;
  int trials = 200, threads = 0;
  uint64_t seed = 1;
  std::string strategy = "evolutionary";
};

struct TuneRun {
  nlohmann::json summary;  ///< what `tune --json` prints
  double wall_s = 0;       ///< from start to end, everything included
};

/// The tune that lies beside this program, on the local device. Its progress goes to standard error.
Result<TuneRun> run_tune(const TuneSettings& settings);

}  // namespace farm
