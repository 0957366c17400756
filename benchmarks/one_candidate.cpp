// One candidate by its text: how long it takes, its share of the FMA peak, and on demand its loop nest and assembly.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "apps/cli.h"
#include "codegen/codegen.h"
#include "runtime/cpu/cpu_device.h"
#include "schedule/schedule.h"
#include "tuner/tuner.h"

namespace farm {
namespace {

struct Options {
  std::string task = "conv2d";
  std::string candidate;  ///< empty: the default schedule
  int threads = 1;
  uint64_t seed = 1;
  bool listing = false, json = false;
};

void print_listing(const Program& program, const Target& target, int threads) {
  std::printf("%s\n", to_string(program.lowered).c_str());
  if (auto listing = list_code(program.lowered, target, threads)) std::printf("%s\n", listing->assembly.c_str());
}

/// Timed for long, as finals are.
Result<MeasureReply> measure(const Task& task, Artifact artifact, uint64_t seed, Device& device) {
  FARM_TRY(const ExpectedOutput expected, expect_output(task, seed));
  MeasureRequest request;
  request.artifacts = {std::move(artifact)};
  request.inputs = expected.inputs;
  request.policy.budget = std::chrono::milliseconds(1500);
  request.measure_peak = true;
  return device.measure(request, expected.blobs());
}

Status run(const Options& options, Device& device) {
  FARM_TRY(Task task,
           options.task.find('(') == std::string::npos ? default_task(options.task) : task_from_text(options.task));
  FARM_TRY(auto space, make_space(task, device.target(), options.threads));
  Candidate candidate = space->default_candidate();
  if (!options.candidate.empty()) {
    FARM_TRY(candidate, candidate_from_text(options.candidate));
  }
  FARM_TRY(Program program, instantiate(*space, candidate));
  if (options.listing) print_listing(program, space->target(), options.threads);
  FARM_TRY(Artifact artifact, make_llvm_backend()->build(program.lowered, device.target(), options.threads));
  FARM_TRY(const TaskSignature shape, signature(task));
  FARM_TRY(MeasureReply reply, measure(task, std::move(artifact), options.seed, device));
  const Measurement& measured = reply.measurements.front();
  double share = measured.latency_ns > 0 ? shape.flops / measured.latency_ns / reply.peak_gflops : 0;
  nlohmann::ordered_json document{{"task", task.text()},
                                  {"threads", options.threads},
                                  {"candidate", candidate.text()},
                                  {"outcome", to_string(measured.outcome)},
                                  {"detail", measured.detail},
                                  {"latency_ns", measured.latency_ns},
                                  {"median_ns", measured.median_ns},
                                  {"peak_gflops", reply.peak_gflops},
                                  {"share_of_peak", share}};
  if (options.json)
    fmt::print("{}\n", document.dump(2));
  else
    fmt::print("{} {}  {:.4f} ms (median {:.4f})  {:.1f} % of peak  {}\n", to_string(measured.outcome), measured.detail,
               measured.latency_ns / 1e6, measured.median_ns / 1e6, 100 * share, candidate.text());
  return {};
}

}  // namespace
}  // namespace farm

int main(int argc, char** argv) {
  using namespace farm;
  auto device = make_cpu_device();  // before anything else: it forks
  Options options;
  CLI::App app("Measures one candidate of a schedule space", "one-candidate");
  app.add_option("--task", options.task, "An operator or a task's text [conv2d]");
  app.add_option("--candidate", options.candidate, "Its text, as tune and tuning_db print it [the default schedule]");
  in_range(app.add_option("--threads", options.threads, "Cores of the kernel [1]"), 1, kMostThreads);
  in_range(app.add_option("--seed", options.seed, "Of the inputs [1]"), 0, UINT64_MAX);
  app.add_flag("--listing", options.listing, "Print its loop nest and assembly");
  app.add_flag("--json", options.json, "One JSON document on standard output");
  if (auto code = parse_command_line(app, argc, argv)) return *code;
  if (!device) return report_error("one-candidate", device.error());
  auto status = run(options, **device);
  return status ? 0 : report_error("one-candidate", status.error());
}
