// Share of the FMA peak: tune's default schedule and its best of N trials, each against the best FMA loop of its run.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "apps/cli.h"
#include "benchmarks/common/tune_run.h"
#include "target/target.h"

namespace farm {
namespace {

struct Options {
  std::vector<std::string> tasks{"conv2d(in_channels=64,height=56,width=56,out_channels=64,kernel=3,padding=1)",
                                 "matmul(m=1024,n=1024,k=1024)"};
  std::vector<int> threads{1, 2};
  TuneSettings settings;
  bool json = false;
};

Result<nlohmann::ordered_json> row_of(const TuneSettings& settings) {
  FARM_TRY(TuneRun run, run_tune(settings));
  const auto &best = run.summary["best"], &fallback = run.summary["default"];
  if (!best.is_object() || !fallback.is_object())
    return fail(ErrorCode::Unavailable, "tune found nothing for ", settings.task);
  return nlohmann::ordered_json{{"task", settings.task},
                                {"threads", settings.threads},
                                {"candidate", best["candidate"]},
                                {"trials", run.summary["trials"]},
                                {"default_ns", fallback["latency_ns"]},
                                {"best_ns", best["latency_ns"]},
                                {"peak_gflops", best["gflops"].get<double>() / best["share_of_peak"].get<double>()},
                                {"default_share", fallback["share_of_peak"]},
                                {"best_share", best["share_of_peak"]}};
}

void print_text(const nlohmann::ordered_json& row) {
  fmt::print(
      "{} thread{} {:7.1f} GFLOP/s peak  default {:7.3f} ms {:5.1f} %  best of {} {:7.3f} ms {:5.1f} %  {}\n"
      "    {}\n",
      row["threads"].get<int>(), row["threads"] == 1 ? " " : "s", row["peak_gflops"].get<double>(),
      row["default_ns"].get<double>() / 1e6, 100 * row["default_share"].get<double>(), row["trials"].get<int>(),
      row["best_ns"].get<double>() / 1e6, 100 * row["best_share"].get<double>(), row["task"].get<std::string>(),
      row["candidate"].get<std::string>());
  std::fflush(stdout);
}

Status run_all(Options options) {
  nlohmann::ordered_json document{{"rows", nlohmann::ordered_json::array()}};
  for (const auto& task : options.tasks)
    for (int threads : options.threads) {
      if (threads > describe_host().cores) continue;
      options.settings.task = task;
      options.settings.threads = threads;
      FARM_TRY(auto row, row_of(options.settings));
      if (!options.json) print_text(row);
      document["rows"].push_back(std::move(row));
    }
  if (options.json) std::puts(document.dump(2).c_str());
  return {};
}

}  // namespace
}  // namespace farm

int main(int argc, char** argv) {
  farm::Options options;
  CLI::App app("Share of the FMA peak that tune's best schedules reach", "peak-share");
  app.add_option("--task", options.tasks, "Task texts, ';' between them")->delimiter(';');
  farm::in_range(app.add_option("--threads", options.threads, "Numbers of threads [1,2]"), 1, farm::kMostThreads)
      ->delimiter(',');
  farm::in_range(app.add_option("--trials", options.settings.trials, "Trials of each search [200]"), 1, 10'000'000);
  farm::in_range(app.add_option("--seed", options.settings.seed, "Of the search [1]"), 0, UINT64_MAX);
  app.add_option("--strategy", options.settings.strategy, "evolutionary, random or grid [evolutionary]");
  app.add_flag("--json", options.json, "One JSON document on standard output");
  if (auto code = farm::parse_command_line(app, argc, argv)) return *code;
  auto status = farm::run_all(std::move(options));
  return status ? 0 : farm::report_error("peak-share", status.error());
}
