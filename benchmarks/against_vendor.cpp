// Our kernels of a network's layers against oneDNN and OpenBLAS, interleaved in one run (installs both)
// packages: libdnnl-dev libopenblas0-pthread
//
// Tunes nothing: kernels come from --db when it has records, else from the default schedule, and the table says which.
// Every variant of every library runs; the best is compared with. Minimum against minimum, outputs checked in full.
#include <sched.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "apps/cli.h"
#include "base/text.h"
#include "benchmarks/vendor/contender.h"
#include "benchmarks/vendor/ours.h"
#include "benchmarks/vendor/race.h"
#include "runtime/cpu/fma_kernel.h"
#include "runtime/cpu/pool.h"
#include "runtime/runtime.h"
#include "target/target.h"

namespace farm::vendor {
namespace {

struct Options {
  std::string network = "resnet18", filter, database;
  int threads = 0;
  RaceRules rules;
  bool json = false, plain = false;
};

struct Row {
  std::string shape, schedule, best_library;
  int occurrences = 1;
  double ours_ms = 0, ours_median_ms = 0, best_ms = 0, best_median_ms = 0, share_of_peak = 0, max_error = 0;
  bool wrong = false;
  nlohmann::json all = nlohmann::json::array();
  double ratio() const { return best_ms / ours_ms; }
};

// A folder that goes away with the run.
struct TemporaryFolder {
  std::filesystem::path path;
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tunefarm-against-vendor-XXXXXX").string();
    FARM_ASSERT(mkdtemp(name.data()) != nullptr, "no temporary folder at ", name);
    path = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

void use_last_core_only() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(int(std::thread::hardware_concurrency()) - 1, &cores);
  sched_setaffinity(0, sizeof cores, &cores);
}

// GFLOP/s of the best FMA loop on all cores used; the best of several short blocks.
double peak_gflops(int threads) {
  FmaKernel kernel = widest_fma(describe_host());
  uint64_t rounds = calibrate_rounds(kernel, 1e6);
  farm_call_context* context = farm_pool_shared(threads);
  double best_ns = 1e18;
  for (int i = 0; i < 30; ++i) best_ns = std::min(best_ns, time_fma_block(kernel, rounds, context, threads));
  return kernel.flops_per_round * double(rounds) * threads / best_ns;
}

std::string compile_program() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "compile").string();
}

Inputs inputs_of(const TaskSignature& shape) {
  std::vector<TensorType> types;
  for (const auto& tensor : shape.inputs) types.push_back(tensor.type);
  return make_inputs(1, types);
}

Result<Row> measure_layer(const Layer& layer, const Options& options, const std::string& folder) {
  FARM_TRY(auto problem, problem_of(layer.task));
  FARM_TRY(auto shape, signature(layer.task));
  Inputs inputs = inputs_of(shape);
  FARM_TRY(auto expected, reference(layer.task, inputs));
  FARM_TRY(auto ours, compile_ours(layer.task, {compile_program(), folder, options.database, options.threads}, inputs));

  Contenders contenders{std::move(ours.contender)};
  add_onednn(problem, inputs, options.threads, contenders);
  add_openblas(problem, inputs, options.threads, contenders);
  auto laps = race(contenders, expected, options.rules);

  Row row{.shape = layer.name, .schedule = ours.schedule, .occurrences = layer.occurrences};
  for (size_t i = 0; i < contenders.size(); ++i) {
    const auto& [contender, lap] = std::tie(contenders[i], laps[i]);
    bool right = lap.max_error <= contender.tolerance;
    row.all.push_back({{"library", contender.library},
                       {"variant", contender.variant},
                       {"plain", contender.plain},
                       {"min_ms", lap.min_ms},
                       {"median_ms", lap.median_ms},
                       {"samples", lap.samples},
                       {"max_error", lap.max_error},
                       {"right", right}});
    if (i == 0) {
      row.ours_ms = lap.min_ms, row.ours_median_ms = lap.median_ms, row.max_error = lap.max_error, row.wrong = !right;
      row.share_of_peak = shape.flops / (lap.min_ms * 1e6) / peak_gflops(options.threads);
    } else if (right && (row.best_ms == 0 || lap.min_ms < row.best_ms) && (contender.plain || !options.plain)) {
      row.best_ms = lap.min_ms, row.best_median_ms = lap.median_ms;
      row.best_library = contender.library + " " + contender.variant;
    }
  }
  if (row.best_ms == 0) return fail(ErrorCode::NotFound, "no library computes ", layer.task.text());
  return row;
}

nlohmann::json to_json(const Row& row) {
  return {{"shape", row.shape},
          {"occurrences", row.occurrences},
          {"schedule", row.schedule},
          {"ours_ms", row.ours_ms},
          {"ours_median_ms", row.ours_median_ms},
          {"best_library", row.best_library},
          {"best_ms", row.best_ms},
          {"best_median_ms", row.best_median_ms},
          {"ratio", row.ratio()},
          {"share_of_peak", row.share_of_peak},
          {"max_error", row.max_error},
          {"all", row.all}};
}

void print_row(const Row& row) {
  std::printf("%-24s %8.4f %8.4f  %-28s %5.2f %6.1f%% %8.1e  %s%s\n", row.shape.c_str(), row.ours_ms, row.best_ms,
              row.best_library.c_str(), row.ratio(), 100 * row.share_of_peak, row.max_error, row.schedule.c_str(),
              row.wrong ? "  WRONG" : "");
  std::fflush(stdout);
}

struct Summary {
  double geomean = 1, ours_ms = 0, best_ms = 0;
  bool wrong = false;
};

Summary summarize(const std::vector<Row>& rows) {
  Summary summary;
  double logs = 0;
  for (const auto& row : rows) {
    logs += std::log(row.ratio());
    summary.ours_ms += row.ours_ms * row.occurrences;
    summary.best_ms += row.best_ms * row.occurrences;
    summary.wrong |= row.wrong;
  }
  if (!rows.empty()) summary.geomean = std::exp(logs / double(rows.size()));
  return summary;
}

Result<std::vector<Layer>> layers_of(const Options& options) {
  FARM_TRY(auto network, resolve_tasks(options.network, std::nullopt));
  std::vector<Layer> chosen;
  for (const auto& layer : network.layers) {
    if (layer.name.find(options.filter) != std::string::npos) chosen.push_back(layer);
  }
  if (chosen.empty())
    return fail(ErrorCode::InvalidArgument, "no layer of ", options.network, " matches ", options.filter);
  return chosen;
}

Status run(const Options& options) {
  FARM_TRY(auto layers, layers_of(options));
  if (options.threads == 1) use_last_core_only();
  TemporaryFolder folder;
  std::string libraries = "oneDNN " + onednn_version() + (openblas_version().empty() ? "" : ", " + openblas_version());
  std::FILE* notes = options.json ? stderr : stdout;
  std::fprintf(notes, "%s on %d thread(s), against %s\n", options.network.c_str(), options.threads, libraries.c_str());
  std::fprintf(notes, "%-24s %8s %8s  %-28s %5s %7s %8s  %s\n", "shape", "ours ms", "best ms", "best library", "ratio",
               "of peak", "error", "schedule");
  std::vector<Row> rows;
  for (const auto& layer : layers) {
    FARM_TRY(auto row, measure_layer(layer, options, folder.path.string()));
    if (!options.json) print_row(row);
    rows.push_back(std::move(row));
  }
  Summary summary = summarize(rows);
  if (options.json) {
    nlohmann::json document{{"network", options.network},
                            {"threads", options.threads},
                            {"geomean", summary.geomean},
                            {"ours_sum_ms", summary.ours_ms},
                            {"best_sum_ms", summary.best_ms},
                            {"rows", nlohmann::json::array()},
                            {"libraries", {{"onednn", onednn_version()}, {"openblas", nullptr}}}};
    if (!openblas_version().empty()) document["libraries"]["openblas"] = openblas_version();
    for (const auto& row : rows) document["rows"].push_back(to_json(row));
    std::printf("%s\n", document.dump(2).c_str());
  } else {
    std::printf("geomean %.2f times the best library's speed; sum %.2f ms against %.2f ms\n", summary.geomean,
                summary.ours_ms, summary.best_ms);
  }
  if (summary.wrong) return fail(ErrorCode::NoCandidate, "a kernel of ours gave a wrong result");
  return {};
}

}  // namespace
}  // namespace farm::vendor

int main(int argc, char** argv) {
  farm::vendor::Options options;
  CLI::App app("Our kernels against vendor libraries", "against-vendor");
  app.add_option("--network", options.network, "network, layer or operator, as tune --task takes it");
  app.add_option("--filter", options.filter, "only layers whose name contains this");
  app.add_option("--db", options.database, "database with our records (default: tuning.db when there is one)");
  farm::in_range(app.add_option("--threads", options.threads, "default: all cores"), 1, farm::kMostThreads);
  farm::in_range(app.add_option("--rounds", options.rules.rounds, "slices of 20 ms a contender"), 1, 100'000);
  app.add_flag("--plain", options.plain, "compare only with variants that take and give plain layouts");
  app.add_flag("--json", options.json, "one JSON document on standard output");
  if (auto code = farm::parse_command_line(app, argc, argv)) return *code;
  if (options.threads == 0) options.threads = int(std::thread::hardware_concurrency());
  auto status = farm::vendor::run(options);
  return status ? 0 : farm::report_error("against-vendor", status.error());
}
