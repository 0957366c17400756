// Candidates a second that the real tune proposes, builds, checks, measures and stores, by the clock over a whole run.
#include <fmt/format.h>
#include <sys/wait.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/child_program.h"
#include "apps/cli.h"
#include "target/target.h"

namespace farm {
namespace {

struct Options {
  std::string task = "conv2d";  ///< about 1 ms a run on two cores
  std::string strategy = "evolutionary";
  int trials = 200, threads = 0;
  uint64_t seed = 1;
  bool json = false;
};

/// A fresh database in a folder that goes away.
class TempFolder {
 public:
  TempFolder() : path_((std::filesystem::temp_directory_path() / "candidate_rate_XXXXXX").string()) {
    made_ = mkdtemp(path_.data()) != nullptr;
  }
  ~TempFolder() {
    std::error_code ignored;
    if (made_) std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  bool made() const { return made_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
  bool made_ = false;
};

struct Run {
  nlohmann::json summary;
  double wall_s = 0;
};

Result<std::string> output_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return fail(ErrorCode::Unavailable, "no shell to start tune with");
  std::string output;
  char buffer[4096];
  for (size_t got; (got = fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, got);
  int status = pclose(pipe);
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (code != 0) return fail(ErrorCode::Unavailable, "tune ended with exit code ", code);
  return output;
}

Result<Run> run_tune(const Options& options) {
  TempFolder folder;
  if (!folder.made()) return fail(ErrorCode::Unavailable, "no temporary folder can be made");
  std::string command =
      fmt::format("'{}' --task '{}' --device local --trials {} --threads {} --seed {} --strategy {} --db '{}' --json",
                  program_beside_this("tune"), options.task, options.trials, options.threads, options.seed,
                  options.strategy, folder.file("tuning.db"));
  auto begin = std::chrono::steady_clock::now();
  FARM_TRY(std::string output, output_of(command));
  Run run;
  run.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  run.summary = nlohmann::json::parse(output, nullptr, false);
  if (run.summary.is_discarded()) return fail(ErrorCode::Corrupt, "tune printed no JSON document");
  return run;
}

nlohmann::ordered_json summarize(const Options& options, const Run& run) {
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
  Options options;
  CLI::App app("Candidates a second over a whole run of tune", "candidate-rate");
  app.add_option("--task", options.task, "What is tuned [conv2d]");
  app.add_option("--trials", options.trials, "Candidates [200]");
  app.add_option("--threads", options.threads, "Cores of the kernel [two, where there are]");
  app.add_option("--strategy", options.strategy, "evolutionary, random or grid [evolutionary]");
  app.add_option("--seed", options.seed, "Of the search [1]");
  app.add_flag("--json", options.json, "One JSON document on standard output");
  if (auto code = parse_command_line(app, argc, argv)) return *code;
  if (options.threads == 0) options.threads = std::min(2, describe_host().cores);
  auto run = run_tune(options);
  if (!run) return report_error("candidate-rate", run.error());
  auto document = summarize(options, *run);
  options.json ? (void)std::puts(document.dump(2).c_str()) : print_text(document);
  return 0;
}

}  // namespace
}  // namespace farm

int main(int argc, char** argv) { return farm::run(argc, argv); }
