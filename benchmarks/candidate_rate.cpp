// Candidates a second that the real tune proposes, builds, checks, measures and stores, by the clock over a whole run.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "apps/cli.h"
#include "benchmarks/common/tune_run.h"
#include "target/target.h"

namespace farm {
namespace {

nlohmann::ordered_json summarize(const TuneSettings& options, const TuneRun& run) {
  double measured = run.summary.value("measured_now", 0.0);
  nlohmann::ordered_json document{{"candidates_per_s", measured / run.wall_s},
                                  {"trials", measured},
                                  {"wall_s", run.wall_s},
                                  {"threads", options.threads},
                                  {"task", options.task}};
  for (const char* key : {"seconds", "failed"})
    if (run.summary.contains(key)) document[key] = run.summary[key];
  document["best_ns"] = run.summary["best"].is_null() ? nlohmann::json() : run.summary["best"]["latency_ns"];
  return document;
}

void print_text(const nlohmann::ordered_json& document) {
  fmt::print("{:.1f} candidates/s: {:.0f} in {:.1f} s, everything from start to end included\n",
             document["candidates_per_s"].get<double>(), document["trials"].get<double>(),
             document["wall_s"].get<double>());
  for (const auto& [name, seconds] : document["seconds"].items())
    fmt::print("  {:<10} {:6.1f} s\n", name, seconds.get<double>());
}

int run(int argc, char** argv) {
  TuneSettings options{.task = "conv2d"};  // about 1 ms a run on two cores
  bool json = false;
  CLI::App app("Candidates a second over a whole run of tune", "candidate-rate");
  app.add_option("--task", options.task, "What is tuned [conv2d]");
  in_range(app.add_option("--trials", options.trials, "Candidates [200]"), 1, 10'000'000);
  in_range(app.add_option("--threads", options.threads, "Cores of the kernel [two, where there are]"), 1, kMostThreads);
  app.add_option("--strategy", options.strategy, "evolutionary, random or grid [evolutionary]");
  in_range(app.add_option("--seed", options.seed, "Of the search [1]"), 0, UINT64_MAX);
  app.add_flag("--json", json, "One JSON document on standard output");
  if (auto code = parse_command_line(app, argc, argv)) return *code;
  if (options.threads == 0) options.threads = std::min(2, describe_host().cores);
  auto run = run_tune(options);
  if (!run) return report_error("candidate-rate", run.error());
  auto document = summarize(options, *run);
  json ? (void)std::puts(document.dump(2).c_str()) : print_text(document);
  return 0;
}

}  // namespace
}  // namespace farm

int main(int argc, char** argv) { return farm::run(argc, argv); }
