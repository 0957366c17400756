// The A/A error: one kernel measured against itself, apart (two requests) and interleaved (one request, as finals are).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "apps/cli.h"
#include "base/clock.h"
#include "codegen/codegen.h"
#include "runtime/runtime.h"
#include "schedule/schedule.h"
#include "tuner/tuner.h"

namespace farm {
namespace {

struct Options {
  std::string task = "conv2d";
  int threads = 0;
  int repeats = 50;
  bool json = false;
};

/// The default schedule of a task, and what a device needs to check it.
struct Subject {
  Artifact artifact;
  ExpectedOutput expected;
};

Result<Subject> make_subject(const Task& task, const Target& target, int threads) {
  FARM_TRY(auto space, make_space(task, target, threads));
  FARM_TRY(Program program, instantiate(*space, space->default_candidate()));
  Subject subject;
  FARM_TRY(subject.artifact, make_llvm_backend()->build(program.lowered, target, threads));
  FARM_TRY(subject.expected, expect_output(task, 1));
  return subject;
}

struct Row {
  std::string way;
  std::vector<double> errors;  ///< |a / b - 1|
  int failed = 0;
  double seconds = 0;

  double quantile(double share) {
    if (errors.empty()) return 0;
    std::ranges::sort(errors);
    return errors[static_cast<size_t>(share * static_cast<double>(errors.size() - 1))];
  }
};

/// Two measurements of the subject: of one request when interleaved, else of two.
Result<std::vector<Measurement>> measure_pair(Device& device, const Subject& subject, bool interleave) {
  MeasureRequest request;
  request.inputs = subject.expected.inputs;
  request.interleave = interleave;
  if (interleave) request.policy.budget = std::chrono::milliseconds(400);  // a final's is longer still
  request.artifacts.assign(2, subject.artifact);
  FARM_TRY(MeasureReply reply, device.measure(request, subject.expected.blobs()));
  return reply.measurements;
}

Result<Row> repeat_pairs(Device& device, const Subject& subject, const Options& options, bool interleave) {
  Row row{interleave ? "interleaved" : "apart", {}};
  SteadyClock clock;
  auto begin = clock.now();
  for (int i = 0; i < options.repeats; ++i) {
    FARM_TRY(auto pair, measure_pair(device, subject, interleave));
    bool good = pair[0].outcome == Outcome::Ok && pair[1].outcome == Outcome::Ok;
    if (good)
      row.errors.push_back(std::abs(pair[0].latency_ns / pair[1].latency_ns - 1));
    else
      ++row.failed;
  }
  row.seconds = std::chrono::duration<double>(clock.now() - begin).count();
  return row;
}

void print(std::vector<Row>& rows, const Options& options, const Subject& subject) {
  nlohmann::json document{{"task", options.task}, {"threads", subject.artifact.threads}, {"repeats", options.repeats}};
  for (auto& row : rows) {
    double median = row.quantile(0.5), ninth = row.quantile(0.9);
    document["rows"].push_back({{"way", row.way},
                                {"median_error", median},
                                {"p90_error", ninth},
                                {"failed", row.failed},
                                {"seconds", row.seconds}});
    if (!options.json)
      fmt::print(
          "{:<12} {} pairs: A/A error {:.2f} % at the median, {:.2f} % at the ninth decile, {} failed, {:.0f} ms a "
          "pair\n",
          row.way, options.repeats, 100 * median, 100 * ninth, row.failed, 1e3 * row.seconds / options.repeats);
  }
  if (options.json) fmt::print("{}\n", document.dump(2));
}

Status run(const Options& options, Device& device) {
  FARM_TRY(Task task,
           options.task.find('(') == std::string::npos ? default_task(options.task) : task_from_text(options.task));
  int threads = options.threads > 0 ? options.threads : device.target().cores;
  FARM_TRY(Subject subject, make_subject(task, device.target(), threads));
  std::vector<Row> rows;
  for (bool interleave : {false, true}) {
    FARM_TRY(Row row, repeat_pairs(device, subject, options, interleave));
    rows.push_back(std::move(row));
  }
  print(rows, options, subject);
  return {};
}

}  // namespace
}  // namespace farm

int main(int argc, char** argv) {
  auto device = farm::make_cpu_device();  // before anything else: it forks
  farm::Options options;
  CLI::App app("Measures one kernel against itself", "measure-itself");
  app.add_option("--task", options.task, "an op, or a task's text");
  farm::in_range(app.add_option("--threads", options.threads, "0: all cores"), 0, farm::kMostThreads);
  farm::in_range(app.add_option("--repeats", options.repeats, "pairs of measurements"), 1, 100'000);
  app.add_flag("--json", options.json, "one JSON document");
  if (auto code = farm::parse_command_line(app, argc, argv)) return *code;
  if (!device) return farm::report_error("measure-itself", device.error());
  auto status = farm::run(options, **device);
  return status ? 0 : farm::report_error("measure-itself", status.error());
}
