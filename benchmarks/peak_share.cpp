// Share of the FMA peak: the default schedule and the best of N trials, each against the best FMA loop of the same run.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <unordered_map>
#include <unordered_set>

#include "apps/cli.h"
#include "codegen/codegen.h"
#include "runtime/cpu/cpu_device.h"
#include "schedule/schedule.h"
#include "tuner/strategy.h"

namespace farm {
namespace {

struct Options {
  std::vector<std::string> tasks{"conv2d(in_channels=64,height=56,width=56,out_channels=64,kernel=3,padding=1)",
                                 "matmul(m=1024,n=1024,k=1024)"};
  std::vector<int> threads{1, 2};
  size_t trials = 200;
  uint64_t seed = 1;
  std::string strategy = "evolutionary";
  std::string candidate;  ///< measure only this one
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

  Result<Measurement> measure(const Candidate& candidate, double best_ns, MeasurePolicy policy, Hash& program_hash) {
    FARM_TRY(Program program, instantiate(*space_, candidate));
    program_hash = program.hash;
    FARM_TRY(Artifact artifact, backend_->build(program.lowered, device_.target(), threads_));
    MeasureRequest request;
    request.artifacts = {std::move(artifact)};
    request.inputs = inputs_;
    request.policy = policy;
    request.best_ns = best_ns;
    request.measure_peak = true;
    FARM_TRY(MeasureReply reply, device_.measure(request, [this](const Hash& hash) { return std::span<const std::byte>(blobs_[hash]); }));
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
  if (auto listing = list_code(program->lowered, space.target(), threads)) std::printf("%s\n", listing->assembly.c_str());
}

struct Row {
  std::string task;
  int threads;
  Candidate best_candidate;
  double default_ns = 0, best_ns = 0, flops = 0, peak_gflops = 0;
  size_t trials = 0;
  double share(double ns) const { return ns > 0 ? flops / ns / peak_gflops : 0; }
};

Result<Row> run(const std::string& text, int threads, Device& device, const Options& options) {
  FARM_TRY(Task task, task_from_text(text));
  FARM_TRY(TaskSignature shape, signature(task));
  Bench bench(task, device, threads);
  FARM_CHECK(bench.prepare(options.seed));
  Row row{text, threads, {}, 0, 0, shape.flops};
  auto measure = [&](const Candidate& candidate, double best_ns, MeasurePolicy policy, Hash& hash) {
    auto result = bench.measure(candidate, best_ns, policy, hash);
    if (result && result->outcome == Outcome::Ok) return result->latency_ns;
    std::fprintf(stderr, "%s: %s\n", candidate.text().c_str(),
                 result ? (to_string(result->outcome) + " " + result->detail).c_str() : result.error().message.c_str());
    return 0.0;
  };
  MeasurePolicy finals;
  finals.budget = std::chrono::milliseconds(1500);
  Hash hash;
  if (!options.candidate.empty()) {
    FARM_TRY(row.best_candidate, candidate_from_text(options.candidate));
    if (options.listing) print_listing(bench.space(), row.best_candidate, threads);
    row.best_ns = measure(row.best_candidate, 0, finals, hash);
    row.peak_gflops = bench.peak_gflops();
    return row;
  }
  FARM_TRY(auto strategy, make_strategy(options.strategy));
  std::vector<Known> known;
  double best_ns = 0;
  while (known.size() < options.trials) {
    auto batch = strategy->propose({bench.space(), known, options.seed}, std::min<size_t>(8, options.trials - known.size()));
    if (batch.empty()) break;
    for (const auto& candidate : batch) {
      double ns = measure(candidate, best_ns, {}, hash);
      known.push_back({candidate, hash, ns});
      if (ns > 0 && (best_ns == 0 || ns < best_ns)) {
        best_ns = ns;
        row.best_candidate = candidate;
        std::fprintf(stderr, "%zu: %.3f ms %.1f %% %s\n", known.size(), ns / 1e6, 100 * shape.flops / ns / bench.peak_gflops(), candidate.text().c_str());
      }
    }
  }
  row.trials = known.size();
  row.default_ns = measure(bench.space().default_candidate(), 0, finals, hash);
  row.best_ns = measure(row.best_candidate, 0, finals, hash);
  row.peak_gflops = bench.peak_gflops();
  return row;
}

void print(const std::vector<Row>& rows, bool json) {
  nlohmann::json document;
  for (const auto& row : rows) {
    document["rows"].push_back({{"task", row.task}, {"threads", row.threads}, {"candidate", row.best_candidate.text()},
                                {"trials", row.trials}, {"default_ns", row.default_ns}, {"best_ns", row.best_ns},
                                {"peak_gflops", row.peak_gflops}, {"default_share", row.share(row.default_ns)},
                                {"best_share", row.share(row.best_ns)}});
    if (!json)
      fmt::print("{} thread{}  {:7.1f} GFLOP/s peak  default {:7.3f} ms {:5.1f} %  best of {} {:7.3f} ms {:5.1f} %  {}\n    {}\n", row.threads,
                 row.threads > 1 ? "s" : " ", row.peak_gflops, row.default_ns / 1e6, 100 * row.share(row.default_ns), row.trials,
                 row.best_ns / 1e6, 100 * row.share(row.best_ns), row.task, row.best_candidate.text());
  }
  if (json) fmt::print("{}\n", document.dump(2));
}

Status run_all(const Options& options, Device& device) {
  std::vector<Row> rows;
  for (const auto& task : options.tasks)
    for (int threads : options.threads) {
      if (threads > device.target().cores) continue;
      FARM_TRY(Row row, run(task, threads, device, options));
      rows.push_back(std::move(row));
    }
  print(rows, options.json);
  return {};
}

}  // namespace
}  // namespace farm

int main(int argc, char** argv) {
  using namespace farm;
  auto device = make_cpu_device();  // before anything else: it forks
  Options options;
  CLI::App app("Share of the FMA peak that the best schedules reach", "peak-share");
  app.add_option("--task", options.tasks, "task texts")->delimiter(';');
  app.add_option("--threads", options.threads, "numbers of threads")->delimiter(',');
  app.add_option("--trials", options.trials, "trials of the search");
  app.add_option("--seed", options.seed, "seed of the search and of the inputs");
  app.add_option("--strategy", options.strategy, "evolutionary, random or grid");
  app.add_option("--candidate", options.candidate, "measure just this one");
  app.add_flag("--listing", options.listing, "print its loop nest and assembly");
  app.add_flag("--json", options.json, "one JSON document on standard output");
  if (auto code = parse_command_line(app, argc, argv)) return *code;
  if (!device) return report_error("peak-share", device.error());
  if (auto status = run_all(options, **device); !status) return report_error("peak-share", status.error());
  return 0;
}
