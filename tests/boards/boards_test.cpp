// Boards of every ISA that this project knows, played by an emulator. Where a cross compiler or the emulator is missing
// a case says so and passes: `./farm test --all` installs both.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "apps/child_program.h"
#include "base/text.h"
#include "rpc/rpc.h"
#include "runtime/cpu/test_kernels.h"
#include "testing.h"

namespace farm {
namespace {

using std::chrono::seconds;

struct Isa {
  std::string name, compiler, emulator;
  std::vector<std::string> cpus;  ///< as which the tests run, QEMU's names
};
const Isa kAarch64{"aarch64", "aarch64-linux-gnu-g++", "qemu-aarch64-static", {"max", "cortex-a53"}};
const Isa kArmv7{"armv7", "arm-linux-gnueabihf-g++", "qemu-arm-static", {"max", "cortex-a9"}};
const Isa kRiscv64{"riscv64", "riscv64-linux-gnu-g++", "qemu-riscv64-static", {"rv64", "rv64,v=true,vext_spec=v1.0"}};

int run(const std::string& command) { return std::system((command + " >&2").c_str()); }

bool can_be_built(const Isa& isa) {
  for (const std::string& program : {isa.compiler, isa.emulator}) {
    if (run("command -v " + program + " >/dev/null") == 0) continue;
    WARN("skipped: " << program << " is not installed");
    return false;
  }
  return true;
}

std::string folder_of(const Isa& isa) { return FARM_ROOT "/build/" + isa.name; }

void build(const Isa& isa, const std::vector<std::string>& targets) {
  REQUIRE(run(FARM_ROOT "/farm build --no-install --target " + isa.name) == 0);
  // Under the launcher's lock: another case may be building, too.
  REQUIRE(run("flock " + folder_of(isa) + ".lock ninja -C " + folder_of(isa) + " " + join(targets, " ")) == 0);
}

/// The tests of the rooms that a board's program is made of.
void run_tests(const Isa& isa) {
  if (!can_be_built(isa)) return;
  build(isa, {"test_base", "test_target", "test_runtime", "test_rpc", "test_rpc_server"});
  CHECK(std::filesystem::file_size(FARM_ROOT "/dist/" + isa.name + "/rpc_server") <= 2'000'000);
  WARN("left out: [memory limit], since an emulator of single programs passes no limit of memory on");
  for (const std::string& cpu : isa.cpus)
    for (const std::string room : {"base", "target", "runtime", "rpc", "rpc_server"}) {
      INFO(room << " as " << cpu);
      CHECK(run(isa.emulator + " -cpu " + cpu + " " + folder_of(isa) + "/" + room + "/test_" + room +
                " '~[memory limit]'") == 0);
    }
}

/// A tracker, and a board that registered with it.
struct BoardFarm {
  ChildProgram tracker, board;

  static Result<BoardFarm> start(const std::string& kind) {
    FARM_TRY(auto tracker,
             ChildProgram::start({.program = FARM_PROGRAMS "/tracker", .args = {"--port", "0", "--log", "error"}}));
    std::string address = "127.0.0.1:" + std::to_string(tracker.port());
    FARM_TRY(auto board, ChildProgram::start({.program = FARM_PROGRAMS "/rpc_server",
                                              .args = {"--emulate", kind, "--tracker", address, "--log", "error"},
                                              .ready_timeout = seconds(600)}));  // it may build the board's program
    return BoardFarm{std::move(tracker), std::move(board)};
  }
};

/// Kernels of the tests, built for the board.
Artifact board_artifact(const Isa& isa, const std::string& run_symbol) {
  Artifact artifact = test_artifact(run_symbol);
  artifact.isa = isa.name;
  std::ifstream file(folder_of(isa) + "/runtime/testdata/kernels.so", std::ios::binary);
  std::vector<char> chars{std::istreambuf_iterator<char>(file), {}};
  auto bytes = std::as_bytes(std::span(chars));
  artifact.blob.assign(bytes.begin(), bytes.end());
  return artifact;
}

void measure_on_a_board(const Isa& isa) {
  if (!can_be_built(isa)) return;
  build(isa, {"farm_test_kernels"});
  auto farm = BoardFarm::start(isa.name);
  INFO((farm ? "" : farm.error().message));
  REQUIRE(farm);
  auto client = TrackerClient::connect({"127.0.0.1", farm->tracker.port()}, seconds(10), "boards_test").value();
  LeaseGrant lease = client->lease(isa.name, 0, seconds(60), {}).value();
  auto device = DeviceClient::connect(lease, seconds(10)).value();
  CHECK(isa_family(device->target().isa) == isa.name);
  CHECK(device->target().emulated);
  CHECK(client->status()->devices.at(0).target == device->target());

  TestTask task;
  REQUIRE(device->put_blob(std::as_bytes(std::span(task.expected))));
  REQUIRE(device->put_blob(std::as_bytes(std::span(task.terms))));
  auto request = task.request({board_artifact(isa, "good_run"), board_artifact(isa, "wrong_run"),
                               board_artifact(isa, "far_after_run"), board_artifact(isa, "null_run"),
                               board_artifact(isa, "hang_run"), test_artifact("good_run")});
  request.policy.timeout = seconds(3);
  auto reply = device->measure(request, {});
  REQUIRE(reply);
  const auto& measured = reply->measurements;
  INFO(measured[0].detail);
  CHECK(measured[0].outcome == Outcome::Ok);
  CHECK(measured[0].clock == "host under emulation");
  CHECK(measured[1].outcome == Outcome::WrongResult);
  CHECK(measured[2].detail == "touched memory 400 bytes after the end of output");
  CHECK(measured[3].detail == "signal 11 (SIGSEGV) at address 0x8");
  CHECK(measured[4].outcome == Outcome::Timeout);
  CHECK(measured[5].detail == "built for x86-64, device is " + device->target().isa);
}

TEST_CASE("the device's rooms pass their tests on aarch64", "[slow]") { run_tests(kAarch64); }
TEST_CASE("the device's rooms pass their tests on armv7", "[slow]") { run_tests(kArmv7); }
TEST_CASE("the device's rooms pass their tests on riscv64", "[slow]") { run_tests(kRiscv64); }

TEST_CASE("an emulated aarch64 board is leased and measures", "[slow]") { measure_on_a_board(kAarch64); }
TEST_CASE("an emulated armv7 board is leased and measures", "[slow]") { measure_on_a_board(kArmv7); }
TEST_CASE("an emulated riscv64 board is leased and measures", "[slow]") { measure_on_a_board(kRiscv64); }

}  // namespace
}  // namespace farm
