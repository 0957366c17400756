// From asking for a device to its first result with a 1 MB artifact on loopback, and the memory of an idle rpc_server.
//
// The real tracker and rpc_server run as children; --server takes another program, such as a static one out of dist/.
// Timed are lease, connection, the blobs, the artifact, loading, checking and a few samples; not code generation.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>

#include "apps/child_program.h"
#include "apps/cli.h"
#include "base/text.h"
#include "codegen/codegen.h"
#include "rpc/rpc.h"
#include "schedule/schedule.h"
#include "tuner/tuner.h"

namespace farm {
namespace {

constexpr const char* kKey = "bench";
constexpr const char* kTask = "matmul(k=64,m=64,n=64)";
constexpr size_t kArtifactBytes = 1'000'000;

struct Options {
  std::string server = program_beside_this("rpc_server");
  std::string emulate;
  int rounds = 50;
  bool json = false;
};

// What every round ships.
struct Work {
  MeasureRequest request;
  ExpectedOutput expected;
};

Result<Work> prepare(const Target& target) {
  FARM_TRY(auto task, task_from_text(kTask));
  FARM_TRY(auto space, make_space(task, target, 1));
  FARM_TRY(Program program, instantiate(*space, space->default_candidate()));
  Work work;
  FARM_TRY(Artifact artifact, make_llvm_backend()->build(program.lowered, target, 1));
  artifact.blob.resize(std::max(artifact.blob.size(), kArtifactBytes));  // what lies behind the sections is not loaded
  FARM_TRY(work.expected, expect_output(task, 1));
  work.request.artifacts = {std::move(artifact)};
  work.request.inputs = work.expected.inputs;
  work.request.policy.budget = work.request.policy.sample = std::chrono::milliseconds(1);
  work.request.policy.min_samples = 3;
  return work;
}

Status one_round(TrackerClient& client, const Work& work) {
  FARM_TRY(LeaseGrant grant, client.lease(kKey, 0, std::chrono::seconds(10), {}));
  FARM_TRY(auto device, DeviceClient::connect(grant, std::chrono::seconds(10)));
  FARM_CHECK(device->put_blob(work.expected.values));
  FARM_CHECK(device->put_blob(work.expected.terms));
  FARM_TRY(MeasureReply reply, device->measure(work.request, {}));
  const Measurement& first = reply.measurements.at(0);
  if (first.outcome != Outcome::Ok) return fail(ErrorCode::NoCandidate, to_string(first.outcome), ": ", first.detail);
  return client.release(grant.token);
}

// Resident memory of a process and those that it forked, in bytes each.
std::vector<int64_t> resident_bytes(pid_t process) {
  std::vector<int64_t> all;
  std::string folder = "/proc/" + std::to_string(process);
  std::ifstream status(folder + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:"))
      all.push_back(parse_int(trim(std::string_view(line).substr(6, line.find("kB") - 6))).value_or(0) << 10);
  std::ifstream children(folder + "/task/" + std::to_string(process) + "/children");
  for (pid_t child; children >> child;)
    for (int64_t bytes : resident_bytes(child)) all.push_back(bytes);
  return all;
}

Status run(const Options& options) {
  FARM_TRY(auto tracker,
           ChildProgram::start({.program = program_beside_this("tracker"), .args = {"--port", "0", "--log", "error"}}));
  Address address{"127.0.0.1", tracker.port()};
  std::vector<std::string> arguments{"--tracker", address.text(), "--key", kKey, "--log", "error"};
  if (!options.emulate.empty()) arguments.insert(arguments.end(), {"--emulate", options.emulate});
  FARM_TRY(auto server, ChildProgram::start({.program = options.server,
                                             .args = arguments,
                                             .ready_timeout = std::chrono::minutes(10)}));  // it may build a board's
  FARM_TRY(auto client, TrackerClient::connect(address, std::chrono::seconds(10), "bench"));
  FARM_TRY(LeaseGrant grant, client->lease(kKey, 0, std::chrono::seconds(10), {}));
  FARM_CHECK(client->release(grant.token));
  std::vector<int64_t> idle = resident_bytes(server.pid());
  FARM_TRY(TrackerStatus status, client->status());
  FARM_TRY(Work work, prepare(status.devices.at(0).target));
  std::vector<double> ms;
  for (int i = 0; i < options.rounds; ++i) {
    auto begin = std::chrono::steady_clock::now();
    FARM_CHECK(one_round(*client, work));
    ms.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  std::ranges::sort(ms);
  nlohmann::json json{{"first_result",
                       {{"rounds", ms.size()},
                        {"min_ms", ms.front()},
                        {"p50_ms", ms[ms.size() / 2]},
                        {"p99_ms", ms[ms.size() * 99 / 100]}}},
                      {"idle_rss_bytes", idle}};
  if (options.json) {
    fmt::print("{}\n", json.dump());
    return {};
  }
  fmt::print("first result of a 1 MB artifact: p50 {:.1f} ms, p99 {:.1f} ms, least {:.1f} ms of {} rounds\n",
             ms[ms.size() / 2], ms[ms.size() * 99 / 100], ms.front(), ms.size());
  fmt::print("idle: {:.1f} MB resident\n", static_cast<double>(idle.at(0)) * 1e-6);
  return {};
}

}  // namespace
}  // namespace farm

int main(int argc, char** argv) {
  farm::Options options;
  CLI::App app("From asking for a device to its first result.", "bench_first_result");
  app.add_option("--server", options.server, "The rpc_server to measure")->capture_default_str();
  app.add_option("--emulate", options.emulate, "A board to be emulated: the emulator's time and memory count, too");
  farm::in_range(app.add_option("--rounds", options.rounds, "How often"), 1, 100'000)->capture_default_str();
  app.add_flag("--json", options.json, "Print one JSON document");
  if (auto code = farm::parse_command_line(app, argc, argv)) return *code;
  auto done = farm::run(options);
  return done ? 0 : farm::report_error("bench_first_result", done.error());
}
