// tune on somebody's farm: a tracker and devices that it did not start, and that come and go.
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "apps/child_program.h"
#include "base/text.h"
#include "tests/programs.h"

namespace farm {
namespace {

using Json = nlohmann::json;

class Farm {
 public:
  Farm() { start_tracker(0); }

  void start_tracker(uint16_t port) {
    tracker_.reset();
    auto started = ChildProgram::start(
        {.program = TUNE_BIN "/tracker", .args = {"--port", std::to_string(port), "--log", "error"}});
    INFO((started ? "" : started.error().message));
    REQUIRE(started);
    tracker_ = std::move(*started);
    port_ = tracker_->port();
  }
  void start_device(const std::string& id) {
    auto started = ChildProgram::start(
        {.program = TUNE_BIN "/rpc_server",
         .args = {"--tracker", address(), "--key", "board", "--id", id, "--cores", "0", "--log", "error"}});
    INFO((started ? "" : started.error().message));
    REQUIRE(started);
    device_ = std::move(*started);
  }
  void kill_device() { device_->kill(); }
  void kill_tracker() { tracker_->kill(); }
  uint16_t port() const { return port_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  std::string tune(const std::string& rest) const {
    return "tune --task matmul --shape m=64,n=64,k=64 --strategy random --device board --tracker " + address() + " " +
           rest;
  }

 private:
  std::optional<ChildProgram> tracker_, device_;
  uint16_t port_ = 0;
};

// A command in the background, which writes its exit code when it is over.
void begin(const ProgramFolder& shell, const std::string& command, const std::string& name) {
  REQUIRE(shell("(" + command + " >" + name + ".out 2>" + name + ".err; echo $? >" + name + ".tmp; mv " + name +
                ".tmp " + name + ".code) & :")
              .code == 0);
}

bool soon(const std::function<bool()>& condition) {
  for (int tries = 0; tries < 6000 && !condition(); ++tries) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return condition();
}

std::string code_of(const ProgramFolder& shell, const std::string& name) {
  REQUIRE(soon([&] { return std::filesystem::exists(shell.path(name + ".code")); }));
  INFO(shell.read(name + ".err"));
  return std::string(trim(shell.read(name + ".code")));
}

bool has_trials(const ProgramFolder& shell, const std::string& database) {
  const auto result = shell("tuning_db query --json --db " + database);
  return result.code == 0 && result.out.find("\"trial\"") != std::string::npos;
}

}  // namespace

TEST_CASE("a key that nobody serves is told after the wait, with the keys there are") {
  Farm farm;
  farm.start_device("b1");
  ProgramFolder shell(TUNE_BIN);
  const auto result = shell("tune --task matmul --device bored --wait 0s --tracker " + farm.address());
  INFO(result.err);
  CHECK(result.code == 3);
  CHECK(result.err.find("bored") != std::string::npos);
  CHECK(result.err.find("board") != std::string::npos);
  CHECK(shell.files() == 0);
}

TEST_CASE("a device that dies and comes back in the middle of a run costs no candidate") {
  Farm farm;
  farm.start_device("b1");
  ProgramFolder shell(TUNE_BIN);
  begin(shell, farm.tune("--trials 50 --db a.db --json"), "a");
  REQUIRE(soon([&] { return has_trials(shell, "a.db"); }));
  farm.kill_device();
  farm.start_device("b1");
  CHECK(code_of(shell, "a") == "0");
  const Json json = Json::parse(shell.read("a.out"));
  CHECK(json.at("trials") == 50);
  CHECK(json.at("failed").empty());
  CHECK(json.at("threads") == 1);  // as many as the device has cores
}

TEST_CASE("a tracker that is started again in the middle of a run is found again") {
  Farm farm;
  farm.start_device("b1");
  ProgramFolder shell(TUNE_BIN);
  begin(shell, farm.tune("--trials 50 --db a.db --json"), "a");
  REQUIRE(soon([&] { return has_trials(shell, "a.db"); }));
  farm.kill_tracker();
  farm.start_tracker(farm.port());
  CHECK(code_of(shell, "a") == "0");
  CHECK(Json::parse(shell.read("a.out")).at("trials") == 50);
}

TEST_CASE("who comes second waits in the queue, is told where, and gets the device") {
  Farm farm;
  farm.start_device("b1");
  ProgramFolder shell(TUNE_BIN);
  begin(shell, farm.tune("--trials 40 --db a.db"), "a");
  REQUIRE(soon([&] { return has_trials(shell, "a.db"); }));
  begin(shell, farm.tune("--trials 3 --db b.db"), "b");
  CHECK(soon([&] { return shell.read("b.err").find("position 1 in the queue") != std::string::npos; }));
  CHECK(code_of(shell, "a") == "0");
  CHECK(code_of(shell, "b") == "0");
}

}  // namespace farm
