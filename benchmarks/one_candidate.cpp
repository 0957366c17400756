// One candidate by its text: how long it takes, its share of the FMA peak, and on demand its loop nest and assembly.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "apps/cli.h"
#include "codegen/codegen.h"
#include "runtime/cpu/cpu_device.h"
#include "schedule/schedule.h"

namespace farm {
namespace {

struct Options {
  std::string task = "conv2d";
  std::string candidate;  ///< empty: the default schedule
  int threads = 1;
  uint64_t seed = 1;
  bool listing = false, json = false;
};

// One task on one device: its inputs' expected output, shipped by hash.
class Bench {
 public:
  Bench(Task task, Device& device, int threads) : task_(std::move(task)), device_(device), threads_(threads) {}

  Status prepare(uint64_t seed) {
    FARM_TRY(space_, make_space(task_, device_.target(), threads_));
    FARM_TRY(TaskSignature signature, farm::signature(task_));
    std::vector<TensorType> types;
    std::vector<size_t> position(signature.inputs.size());
    for (bool constant : {false, true})
      for (size_t i = 0; i < signature.inputs.size(); ++i)
        if (signature.inputs[i].constant == constant) {
          position[i] = types.size();
          types.push_back(signature.inputs[i].type);
        }
    auto made = make_inputs(seed, types);
    std::vector<std::vector<float>> by_task;
    for (size_t at : position) by_task.push_back(made[at]);
    FARM_TRY(Reference wanted, reference(task_, by_task));
    inputs_.seed = seed;
    inputs_.expected = keep(wanted.output);
    inputs_.terms = keep(wanted.terms);
    return {};
  }

  const ScheduleSpace& space() const { return *space_; }

  Result<Measurement> measure(const Candidate& candidate, MeasurePolicy policy) {
    FARM_TRY(Program program, instantiate(*space_, candidate));
    FARM_TRY(Artifact artifact, backend_->build(program.lowered, device_.target(), threads_));
    MeasureRequest request;
    request.artifacts = {std::move(artifact)};
    request.inputs = inputs_;
    request.policy = policy;
    request.measure_peak = true;
    FARM_TRY(MeasureReply reply,
             device_.measure(request, [this](const Hash& hash) { return std::span<const std::byte>(blobs_[hash]); }));
    peak_ = std::max(peak_, reply.peak_gflops);
    return reply.measurements.front();
  }

  double peak_gflops() const { return peak_; }

 private:
  Hash keep(const std::vector<float>& values) {
    auto bytes = std::as_bytes(std::span(values));
    Hash hash = hash_bytes(bytes);
    blobs_[hash].assign(bytes.begin(), bytes.end());
    return hash;
  }

  Task task_;
  Device& device_;
  int threads_;
  std::shared_ptr<const ScheduleSpace> space_;
  std::unique_ptr<Backend> backend_ = make_llvm_backend();
  std::unordered_map<Hash, std::vector<std::byte>> blobs_;
  InputSet inputs_;
  double peak_ = 0;
};

void print_listing(const ScheduleSpace& space, const Candidate& candidate, int threads) {
  auto program = instantiate(space, candidate);
  if (!program) return;
  std::printf("%s\n", to_string(program->lowered).c_str());
  if (auto listing = list_code(program->lowered, space.target(), threads))
    std::printf("%s\n", listing->assembly.c_str());
}

Status run(const Options& options, Device& device) {
  FARM_TRY(Task task,
           options.task.find('(') == std::string::npos ? default_task(options.task) : task_from_text(options.task));
  FARM_TRY(TaskSignature shape, signature(task));
  Bench bench(task, device, options.threads);
  FARM_CHECK(bench.prepare(options.seed));
  Candidate candidate = bench.space().default_candidate();
  if (!options.candidate.empty()) {
    FARM_TRY(candidate, candidate_from_text(options.candidate));
  }
  if (options.listing) print_listing(bench.space(), candidate, options.threads);
  MeasurePolicy policy;
  policy.budget = std::chrono::milliseconds(1500);
  FARM_TRY(Measurement measured, bench.measure(candidate, policy));
  double share = measured.latency_ns > 0 ? shape.flops / measured.latency_ns / bench.peak_gflops() : 0;
  nlohmann::ordered_json document{{"task", task.text()},
                                  {"threads", options.threads},
                                  {"candidate", candidate.text()},
                                  {"outcome", to_string(measured.outcome)},
                                  {"detail", measured.detail},
                                  {"latency_ns", measured.latency_ns},
                                  {"median_ns", measured.median_ns},
                                  {"peak_gflops", bench.peak_gflops()},
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
