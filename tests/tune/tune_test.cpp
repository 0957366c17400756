// tune as people and scripts call it: real processes, this machine's cores, a folder of its own.
#include <signal.h>

#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/text.h"
#include "tests/programs.h"

namespace farm {
namespace {

using Json = nlohmann::json;

const std::string kTune = "tune --task matmul --shape m=64,n=64,k=64 --device local --threads 1";

Json document(const ProgramResult& result) {
  INFO(result.err);
  REQUIRE(result.code == 0);
  auto json = Json::parse(result.out, nullptr, false);
  REQUIRE_FALSE(json.is_discarded());
  return json;
}

// Processes with this folder as their current one: tune's children are started there.
std::vector<pid_t> processes_in(const std::string& folder) {
  std::vector<pid_t> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const auto pid = parse_int(entry.path().filename().string());
    if (pid && std::filesystem::read_symlink(entry.path() / "cwd", ignored) == folder)
      found.push_back(static_cast<pid_t>(*pid));
  }
  return found;
}

std::string work_folder(const ProgramFolder& shell) { return std::filesystem::canonical(shell.path(".")).string(); }

bool nothing_runs_soon(const ProgramFolder& shell) {
  for (int tries = 0; tries < 6000; ++tries) {
    if (processes_in(work_folder(shell)).empty()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

size_t stored_trials(const ProgramFolder& shell) {
  const auto result = shell("tuning_db query --json");
  if (result.code != 0) return 0;
  const auto records = Json::parse(result.out).at("records");
  return static_cast<size_t>(
      std::ranges::count_if(records, [](const Json& record) { return record.at("role") == "trial"; }));
}

}  // namespace

TEST_CASE("tune finds, stores and says what it found, and the same command again measures nothing") {
  ProgramFolder shell(TUNE_BIN);
  const Json first = document(shell(kTune + " --trials 6 --json"));
  CHECK(first.at("trials") == 6);
  CHECK(first.at("measured_now") == 6);
  CHECK(first.at("failed").is_object());
  for (const char* which : {"best", "default"}) {
    const Json& found = first.at(which);
    CHECK(found.at("candidate").is_string());
    const double latency_ns = found.at("latency_ns");
    CHECK(latency_ns > 0);
    CHECK(found.at("median_ns") >= latency_ns * 0.99);
    CHECK(found.at("interval_ns").size() == 2);
    CHECK(found.at("prepack_ns").is_number());
    CHECK(found.at("gflops").get<double>() == Approx(2.0 * 64 * 64 * 64 / latency_ns));
    CHECK(found.at("share_of_peak") > 0.0);
    CHECK(found.at("share_of_peak") < 1.5);
  }
  CHECK(first.at("best").at("latency_ns") <= first.at("default").at("latency_ns"));
  for (const char* part : {"propose", "build", "transfer", "run", "learn"}) CHECK(first.at("seconds").at(part) >= 0.0);
  CHECK(first.at("cost_model").is_null());
  CHECK(first.at("candidates_per_s") > 0.0);

  const Json again = document(shell(kTune + " --trials 6 --json"));
  CHECK(again.at("measured_now") == 0);
  CHECK(again.at("best") == first.at("best"));
  const auto text = shell(kTune + " --trials 6");
  CHECK(text.code == 0);
  CHECK(text.out.find("nothing new was measured") != std::string::npos);
  CHECK(shell(kTune + " --trials 6 >/dev/full").code == 3);
  CHECK(nothing_runs_soon(shell));
  CHECK(shell.files() == 1);  // tuning.db alone
}

TEST_CASE("tune that is killed loses no record and leaves nothing running, and the same command goes on") {
  ProgramFolder shell(TUNE_BIN);
  const std::string command = kTune + " --trials 400 --strategy random";
  REQUIRE(shell(command + " & echo $! > pid").code == 0);
  const auto pid = static_cast<pid_t>(parse_int(trim(shell.read("pid"))).value_or(0));
  REQUIRE(pid > 1);
  size_t stored = 0;
  for (int tries = 0; stored < 8 && tries < 1200; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stored = stored_trials(shell);
  }
  REQUIRE(stored >= 8);
  REQUIRE(kill(pid, SIGKILL) == 0);
  CHECK(nothing_runs_soon(shell));
  stored = stored_trials(shell);
  const size_t wanted = stored + 5;
  const Json rest = document(shell(kTune + " --strategy random --json --trials " + std::to_string(wanted)));
  CHECK(rest.at("trials") == wanted);
  CHECK(rest.at("measured_now") == 5);
}

TEST_CASE("Ctrl-C ends tune with what it has, exit code 130, and every record kept") {
  ProgramFolder shell(TUNE_BIN);
  REQUIRE(shell("(" + kTune + " --trials 400 --strategy random --json >json 2>log; echo $? >code) & :").code == 0);
  size_t stored = 0;
  for (int tries = 0; stored < 8 && tries < 1200; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stored = stored_trials(shell);
  }
  REQUIRE(stored >= 8);
  for (const pid_t pid : processes_in(work_folder(shell))) {
    std::error_code ignored;
    std::string name = std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", ignored).filename();
    std::ifstream comm("/proc/" + std::to_string(pid) + "/comm");
    std::string thread;
    comm >> thread;
    if (name == "tune" && thread == "tune") REQUIRE(kill(pid, SIGINT) == 0);
  }
  CHECK(nothing_runs_soon(shell));
  CHECK(std::string(trim(shell.read("code"))) == "130");
  const Json json = Json::parse(shell.read("json"));
  CHECK(json.at("ended") == "stopped");
  CHECK(json.at("trials") == stored_trials(shell));
}

TEST_CASE("a device that dies is brought back, and costs no candidate") {
  ProgramFolder shell(TUNE_BIN);
  REQUIRE(shell("(" + kTune + " --trials 60 --strategy random --json >json 2>log; echo $? >code) & :").code == 0);
  for (int tries = 0; stored_trials(shell) < 8 && tries < 1200; ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  size_t killed = 0;
  for (const pid_t pid : processes_in(work_folder(shell))) {
    std::ifstream comm("/proc/" + std::to_string(pid) + "/comm");
    std::string name;
    comm >> name;
    if (name == "rpc_server" && kill(pid, SIGKILL) == 0) ++killed;
  }
  CHECK(killed >= 1);
  CHECK(nothing_runs_soon(shell));
  INFO(shell.read("log"));
  CHECK(std::string(trim(shell.read("code"))) == "0");
  const Json json = Json::parse(shell.read("json"));
  CHECK(json.at("trials") == 60);
}

TEST_CASE("a second tune on one database is told who writes it") {
  ProgramFolder shell(TUNE_BIN);
  REQUIRE(shell("(" + kTune + " --trials 400 --strategy random >out 2>log) & :").code == 0);
  for (int tries = 0; stored_trials(shell) < 1 && tries < 1200; ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const auto second = shell(kTune + " --trials 3");
  CHECK(second.code == 3);
  CHECK(second.err.find("process ") != std::string::npos);
  for (const pid_t pid : processes_in(work_folder(shell))) {
    std::ifstream comm("/proc/" + std::to_string(pid) + "/comm");
    std::string name;
    comm >> name;
    if (name == "tune") kill(pid, SIGKILL);
  }
  CHECK(nothing_runs_soon(shell));
}

TEST_CASE("the commands that make sense next work when they are pasted where tune was called") {
  ProgramFolder shell(TUNE_BIN);
  shell.write("tasks.txt", "3 x matmul(m=32,n=32,k=32)\nmatmul(m=48,n=32,k=16)\n");
  for (const std::string program : {"tune", TUNE_BIN "/tune"})
    for (const std::string task : {"matmul --shape m=32,n=32,k=32", "tasks.txt"}) {
      const auto tuned = shell(program + " --threads 1 --trials 2 --db 'a b.db' --task " + task);
      INFO(tuned.out << tuned.err);
      REQUIRE(tuned.code == 0);
      const auto lines = split(tuned.out.substr(tuned.out.find("next")), '\n');
      REQUIRE(lines.size() >= 3);
      CHECK(lines[1].find("compile") != std::string::npos);
      for (const std::string& command : {lines[1], lines[2]}) {
        const auto done = shell(command);
        INFO(command << ": " << done.err);
        CHECK(done.code == 0);
        CHECK(done.out.find(lines[1] == command ? "schedule  tuned" : "final") != std::string::npos);
      }
    }
  const auto launched =
      shell("TUNEFARM_LAUNCHER='../a b/farm' tune --threads 1 --trials 2 --db 'a b.db' --task tasks.txt");
  CHECK(launched.out.find("\n  '../a b/farm' tuning_db best --db 'a b.db'\n") != std::string::npos);
}

TEST_CASE("tasks come from files too, one a line, and a network's document has them all") {
  ProgramFolder shell(TUNE_BIN);
  shell.write("tasks.txt", "# two layers\n3 x matmul(m=32,n=32,k=32)\nmatmul(m=48,n=32,k=16)\n");
  const Json json = document(shell("tune --task tasks.txt --threads 1 --trials 4 --json"));
  CHECK(json.at("trials") == 4);
  REQUIRE(json.at("tasks").size() == 2);
  CHECK(json.at("tasks")[0].at("occurrences") == 3);
  double sum = 0;
  for (const Json& task : json.at("tasks"))
    sum += task.at("occurrences").get<double>() * task.at("best").at("latency_ns").get<double>();
  CHECK(json.at("network_ns").get<double>() == Approx(sum));
}

TEST_CASE("tune --list names operators, networks and layers") {
  ProgramFolder shell(TUNE_BIN);
  const auto text = shell("tune --list");
  CHECK(text.code == 0);
  for (const char* name : {"conv2d", "batch_matmul", "resnet18", "bert-base"})
    CHECK(text.out.find(name) != std::string::npos);
  const Json json = document(shell("tune --list --json"));
  CHECK(json.at("operators").size() >= 4);
  CHECK(json.at("networks").size() >= 4);
}

TEST_CASE("mistakes are told in one line, and leave nothing behind") {
  ProgramFolder shell(TUNE_BIN);
  const std::map<std::string, std::pair<int, std::string>> cases{
      {"tune", {2, "--task is missing"}},
      {"tune --strategy evolutionery", {2, "evolutionary"}},
      {"tune --task conv3d", {2, "conv2d"}},
      {"tune --task resnet18 --shape m=1", {2, "leave --shape out"}},
      {"tune --task matmul --shape m=0", {2, "m"}},
      {"tune --trials 0", {2, "--trials is '0'"}},
      {"tune --task conv2d --time soon", {2, "--time is 'soon'"}},
      {"tune --task conv2d --tracker nowhere", {2, "HOST:PORT"}},
      {"tune --task conv2d --device rk3399 --tracker 127.0.0.1:1", {3, "no tracker answers at 127.0.0.1:1"}},
      {"tune --task conv2d --db no/such/folder/t.db", {3, "no folder"}},
      {"tune --task ./missing.txt", {3, "no file ./missing.txt"}},
      {"tune --task conv2d --threads 4000 --trials 1", {2, "--threads is 4000 when"}},
      {"tune --trails 3", {2, "--trials"}},
  };
  for (const auto& [command, wanted] : cases) {
    const auto result = shell(command);
    INFO(command << ": " << result.err);
    CHECK(result.code == wanted.first);
    CHECK(result.err.find(wanted.second) != std::string::npos);
    CHECK(std::ranges::count(result.err, '\n') <= 3);
    CHECK(result.out.empty());
    CHECK(shell.files() == 0);
  }
}

}  // namespace farm
