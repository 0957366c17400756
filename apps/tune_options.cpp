#include "apps/tune_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "apps/cli.h"
#include "apps/task_argument.h"
#include "base/text.h"

namespace farm {
namespace {

constexpr uint64_t kMostTrials = 10'000'000;
constexpr std::chrono::seconds kAboutAMinute{54};  // of tuning; starting, finals' checks and ending make it a minute

Result<std::chrono::nanoseconds> duration(const char* flag, const std::string& text) {
  if (auto parsed = parse_duration(text)) return *parsed;
  return fail(ErrorCode::InvalidArgument, flag, " is '", printable(text),
              "'; a duration such as 90s, 10m or 1h30m is wanted");
}

Status check_strategy(const std::string& name) {
  FARM_TRY([[maybe_unused]] auto made, make_strategy(name));
  return {};
}

Result<TuneBudget> make_budget(const TuneFlags& flags) {
  TuneBudget budget;
  budget.trials = flags.trials;
  if (!flags.time.empty()) {
    FARM_TRY(budget.time, duration("--time", flags.time));
    if (budget.time->count() == 0)
      return fail(ErrorCode::InvalidArgument, "--time is ", printable(flags.time), "; more than 0 is wanted");
  }
  if (budget.trials || budget.time) return budget;
  budget.time = kAboutAMinute;
  budget.stop_without_progress = true;
  return budget;
}

}  // namespace

void add_tune_flags(CLI::App& app, TuneFlags& flags) {
  app.add_option("--task", flags.task, "Operator, network, layer of a network, or file of tasks; see --list");
  app.add_option("--shape", flags.shape, "Of an operator: key=value,key=value; without it a default shape");
  app.add_option("--constant", flags.constant, "Of matmul, b: known beforehand and packed outside the timed run");
  app.add_option("--device", flags.device, "Key of a device at the tracker, or local: this machine, no tracker needed")
      ->capture_default_str();
  app.add_option("--tracker", flags.tracker, "HOST:PORT; else $TUNEFARM_TRACKER, else 127.0.0.1:9190");
  in_range(app.add_option("--trials", flags.trials, "Candidates measured in all, earlier runs included"), 1,
           kMostTrials);
  app.add_option("--time", flags.time, "Time spent tuning in all, earlier runs included: 90s, 10m, 1h30m");
  in_range(app.add_option("--threads", flags.threads, "Cores that the kernel uses; else all of the device"), 1,
           kMostThreads);
  app.add_option("--strategy", flags.strategy, join(strategy_names(), ", "))->capture_default_str();
  in_range(app.add_option("--seed", flags.seed, "Of the search and of the inputs"), 0, UINT64_MAX)
      ->capture_default_str();
  app.add_option("--db", flags.db, "Database of measurements; made when it is not there")->capture_default_str();
  app.add_option("--wait", flags.wait, "How long to wait for a first device of an unknown key")->capture_default_str();
  app.add_flag("--json", flags.json, "Print the result as one JSON document on standard output");
  app.add_flag("--list", flags.list, "Print the tasks there are, with their shapes, and exit");
}

Result<TuneRequest> check_tune_flags(const TuneFlags& flags) {
  TuneRequest request;
  if (!flags.task.empty()) {
    FARM_TRY(auto shape, shape_with_constant(flags.task, flags.shape, flags.constant));
    FARM_TRY(request.network, tasks_from_argument(flags.task, shape));
  }
  FARM_CHECK(check_strategy(flags.strategy));
  FARM_TRY(request.budget, make_budget(flags));
  request.budget_given = !request.budget.stop_without_progress;
  request.threads = flags.threads;
  FARM_TRY(const auto wait, duration("--wait", flags.wait));
  request.wait = std::chrono::ceil<std::chrono::milliseconds>(wait);
  if (!flags.tracker.empty()) {
    FARM_TRY([[maybe_unused]] auto address, parse_address(flags.tracker));
  }
  FARM_CHECK(check_device_key("--device", flags.device));
  if (flags.task.empty())
    return fail(ErrorCode::InvalidArgument, "--task is missing; try --task conv2d, or --list for all there are");
  return request;
}

// Listing ------------------------------------------------------------

static std::string list_as_json() {
  nlohmann::ordered_json document{{"operators", nlohmann::ordered_json::array()},
                                  {"networks", nlohmann::ordered_json::array()}};
  for (const std::string& op : op_names()) {
    const auto task = default_task(op);
    document["operators"].push_back({{"name", op}, {"keys", shape_keys(op)}, {"default", task ? task->text() : ""}});
  }
  for (const Network& network : catalogue()) {
    nlohmann::ordered_json layers = nlohmann::ordered_json::array();
    for (const Layer& layer : network.layers)
      layers.push_back({{"name", layer.name}, {"task", layer.task.text()}, {"occurrences", layer.occurrences}});
    document["networks"].push_back({{"name", network.name}, {"title", network.title}, {"layers", std::move(layers)}});
  }
  return document.dump(2) + "\n";
}

std::string list_tasks(bool json) {
  if (json) return list_as_json();
  std::string text = "operators, with the keys of --shape and the shape that is taken without it\n";
  for (const std::string& op : op_names()) {
    const auto task = default_task(op);
    const auto title = default_title(op);
    text += fmt::format("  {:<18} {}\n", op, join(shape_keys(op), " "));
    if (task && title) text += fmt::format("  {:<18} default: {}, {}\n", "", *title, task->text());
  }
  text += "\nnetworks, with their layers and how often each occurs\n";
  for (const Network& network : catalogue()) {
    text += fmt::format("  {:<18} {}\n", network.name, network.title);
    for (const Layer& layer : network.layers)
      text += fmt::format("    {:<26} {:>2} x {}\n", layer.name, layer.occurrences, layer.task.text());
  }
  return text;
}

}  // namespace farm
