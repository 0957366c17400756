// The one loop of the system: propose, build, measure, store, learn.
#pragma once
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "tensor/tensor.h"
#include "tuner/builder.h"
#include "tuner/runner.h"
#include "tuner/strategy.h"
#include "tuning_db/tuning_db.h"

namespace farm {

/// How much may be spent. What is stored already counts, so a finished run measures nothing new.
struct TuneBudget {
  std::optional<size_t> trials;                  ///< Trial records that exist afterwards, over all tasks
  std::optional<std::chrono::nanoseconds> time;  ///< of tuning stored afterwards, over all tasks
  bool stop_without_progress = false;            ///< for runs that nobody gave a budget
};

struct TuneOptions {
  std::vector<Layer> layers;  ///< distinct tasks; at least one
  int threads = 1;
  uint64_t seed = 1;
  std::string strategy = "evolutionary";
  TuneBudget budget;
  MeasurePolicy policy;
  std::string device_key;  ///< label stored with each record
  std::string run_id;
  std::vector<std::pair<std::string, std::string>> environment;  ///< stored with each record
  size_t finalists = 6;                                          ///< measured again beside the default schedule
};

/// Seconds of this run by what they went into.
struct TuneSeconds {
  double propose = 0, build = 0, transfer = 0, run = 0, learn = 0;
};

/// What there is to see while it runs.
struct TuneProgress {
  enum class Phase { Default, Search, Finals };
  Phase phase = Phase::Default;
  std::string layer;                    ///< being tuned
  size_t task = 0, tasks = 1;           ///< which of how many
  size_t trials = 0, measured_now = 0;  ///< over all tasks
  std::optional<size_t> trials_wanted;
  std::optional<double> seconds_left;  ///< of the time budget, or as the rate so far suggests
  double best_ns = 0, default_ns = 0;  ///< of this layer; 0: none yet
  double best_gflops = 0, share_of_peak = 0;
  double candidates_per_s = 0;
  std::map<Outcome, size_t> failed;  ///< trials, over all tasks
};

struct TaskReport {
  Layer layer;
  RecordKey key;
  size_t trials = 0, measured_now = 0;
  std::map<Outcome, size_t> failed;  ///< trials that exist, by outcome, without ok
  std::optional<Record> best;        ///< what compile would take
  std::optional<Record> fallback;    ///< the default schedule, measured beside the best where there were finals
  std::vector<Record> ties;          ///< finals that tie with the fastest and are less simple than the best
  bool exhausted = false;            ///< the space has no more candidates
  std::optional<ModelQuality> quality;
  std::string first_error;  ///< of the first candidate that failed
};

struct TuneReport {
  std::vector<TaskReport> tasks;
  TuneSeconds seconds;
  size_t measured_now = 0;
  double candidates_per_s = 0;  ///< trials of this run by the clock; 0 without any
  enum class End { Budget, Exhausted, NoProgress, Stopped } end = End::Budget;
  std::optional<Error> trouble;  ///< what ended it early; everything measured until then is stored
};

struct TuneParts {
  Builder& builder;
  Runner& runner;
  RecordStore& store;
  const Clock& clock;
  std::function<void(const TuneProgress&)> on_progress;  ///< may be empty
  std::function<bool()> stopped;                         ///< may be empty
};

/// InvalidArgument when the device has not as many cores as threads are wanted; `tune` asks the same.
Status check_threads(const TuneOptions& options, const Target& device);

/// An Error when it could not begin (an unknown strategy, more threads than cores, a store that cannot be read).
/// Once it has begun, what ends it early is in the report.
Result<TuneReport> tune(const TuneOptions& options, const TuneParts& parts);

}  // namespace farm
