// What a person asked of tune, checked.
#pragma once
#include <chrono>
#include <optional>
#include <string>

#include "base/result.h"
#include "tensor/tensor.h"
#include "tuner/tuner.h"

namespace CLI {
class App;
}

namespace farm {

/// As given on the command line.
struct TuneFlags {
  std::string task, time, wait = "10s", tracker;
  std::optional<std::string> shape, constant;
  std::string device = "local", strategy = "evolutionary", db = "tuning.db";
  std::optional<size_t> trials;
  std::optional<int> threads;
  uint64_t seed = 1;
  bool json = false, list = false;
};
void add_tune_flags(CLI::App& app, TuneFlags& flags);

struct TuneRequest {
  Network network;  ///< one layer for a plain task
  TuneBudget budget;
  bool budget_given = false;
  std::optional<int> threads;  ///< nothing: all cores of the device
  std::chrono::milliseconds wait{10'000};
};
/// Checks the values that are given before it asks for missing ones.
Result<TuneRequest> check_tune_flags(const TuneFlags& flags);

/// Operators with their keys and default shapes, networks with their layers: for people or as JSON.
std::string list_tasks(bool json);

}  // namespace farm
