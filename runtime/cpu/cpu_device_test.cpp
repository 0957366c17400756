#include "runtime/cpu/cpu_device.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "base/text.h"
#include "runtime/cpu/test_kernels.h"
#include "testing.h"

using namespace farm;

/// One device for all cases: what one candidate does must not be felt by the next anyway.
static Device& device() {
  static std::unique_ptr<Device> device = make_cpu_device().value();
  return *device;
}

static std::vector<Measurement> measure_all(const MeasureRequest& request, const TestTask& task) {
  auto reply = device().measure(request, task.blobs());
  REQUIRE(reply);
  REQUIRE(reply->measurements.size() == request.artifacts.size());
  return reply->measurements;
}

static Measurement measure(const std::string& run_symbol, int threads = 1) {
  TestTask task;
  return measure_all(task.request({test_artifact(run_symbol, threads)}), task).front();
}

static Measurement measure_with_timeout(const std::string& run_symbol, std::chrono::milliseconds timeout) {
  TestTask task;
  auto request = task.request({test_artifact(run_symbol)});
  request.policy.timeout = timeout;
  return measure_all(request, task).front();
}

static bool begins_with(const std::string& text, const std::string& with) { return text.rfind(with, 0) == 0; }

TEST_CASE("a good kernel is checked and timed, with one thread and with all cores") {
  for (int threads : {1, device().target().cores}) {
    Measurement measurement = measure("good_run", threads);
    INFO(measurement.detail);
    REQUIRE(measurement.outcome == Outcome::Ok);
    CHECK(measurement.latency_ns > 0);
    CHECK(measurement.median_ns >= measurement.latency_ns);
    CHECK(measurement.low_ns <= measurement.latency_ns);
    CHECK(measurement.high_ns >= measurement.latency_ns);
    CHECK(measurement.prepack_ns > 0);
    CHECK(measurement.samples_ns.size() >= 3);
    CHECK(measurement.max_error <= 1e-5);
    CHECK(measurement.golden_ratio >= 1);
    CHECK(measurement.cores.size() == static_cast<size_t>(threads));
  }
}

TEST_CASE("the device knows its peak, and measures it again on request") {
  CHECK(device().target().peak_gflops_core > 0.01);
  TestTask task;
  auto request = task.request({test_artifact("good_run")});
  request.measure_peak = true;
  auto reply = device().measure(request, task.blobs());
  REQUIRE(reply);
  CHECK(reply->peak_gflops > 0.01);
  request.artifacts.clear();
  CHECK(device().measure(request, task.blobs())->peak_gflops > 0.01);
}

TEST_CASE("wrong results are found before and after timing") {
  CHECK(measure("wrong_run").outcome == Outcome::WrongResult);
  CHECK(measure("wrong_run").detail.find("at element 17") != std::string::npos);
  CHECK(measure("lazy_run").outcome == Outcome::WrongResult);  // the output is still poison
  CHECK(measure("once_run").outcome == Outcome::WrongResult);
}

TEST_CASE("writes beside a buffer or into an operand are out of bounds") {
  CHECK(measure("just_after_run").detail == "wrote 4 bytes after the end of output");
  CHECK(measure("just_before_run").detail == "wrote 4 bytes before the start of output");
  CHECK(measure("far_after_run").detail == "touched memory 400 bytes after the end of output");
  CHECK(measure("input_write_run").detail == "touched memory inside the read-only input 0");
  CHECK(measure("packed_write_run").detail == "touched memory inside the read-only packed constants");
  for (const char* name : {"just_after_run", "just_before_run", "far_after_run", "input_write_run", "packed_write_run"})
    CHECK(measure(name).outcome == Outcome::OutOfBounds);
  TestTask task;
  Artifact artifact = test_artifact("good_run");
  artifact.prepack_symbol = "prepack_beyond";
  Measurement measurement = measure_all(task.request({artifact}), task).front();
  CHECK(measurement.outcome == Outcome::OutOfBounds);
  CHECK(measurement.detail == "wrote 4 bytes after the end of packed constants");
}

TEST_CASE("a crash is one failed measurement with the signal's name, on whatever thread it happens") {
  Measurement null = measure("null_run");
  CHECK(null.outcome == Outcome::Crashed);
  CHECK(null.detail == "signal 11 (SIGSEGV) at address 0x8");
  CHECK(measure("trap_run").outcome == Outcome::Crashed);
  auto trap = measure("trap_run").detail;  // by an instruction that does not exist, or by a breakpoint
  CHECK((begins_with(trap, "signal 4 (SIGILL)") || begins_with(trap, "signal 5 (SIGTRAP)")));
  CHECK(begins_with(measure("stack_run").detail, "signal 11 (SIGSEGV)"));
  CHECK(
      begins_with(measure("worker_crash_run", device().target().cores).detail, "signal 11 (SIGSEGV) at address 0x10"));
  CHECK(measure("good_run").outcome == Outcome::Ok);
}

TEST_CASE("a code other than 0 and an artifact that cannot be launched are told as such") {
  CHECK(measure("code_run").outcome == Outcome::LaunchFailed);
  CHECK(measure("code_run").detail == "code_run returned 7");
  CHECK(measure("no_such_run").detail == "the shared object has no function no_such_run");
  TestTask task;
  std::vector<Artifact> artifacts(7, test_artifact("good_run"));
  artifacts[0].blob = test_kernel_file("unknown_import");
  artifacts[1].features = {"warp-drive"};
  artifacts[2].threads = 4096;
  artifacts[3].blob.resize(100);
  artifacts[4].packed_bytes = int64_t{1} << 62;
  artifacts[5].inputs[0].shape = {int64_t{1} << 40};
  artifacts[6].isa = "sparc";
  auto measurements = measure_all(task.request(artifacts), task);
  for (const auto& measurement : measurements) CHECK(measurement.outcome == Outcome::LaunchFailed);
  CHECK(measurements[0].detail == "shared object refused: it imports puts, which kernels may not use");
  CHECK(begins_with(measurements[1].detail, "needs warp-drive, which this device"));
  CHECK(begins_with(measurements[2].detail, "needs 4096 threads when this device has"));
  CHECK(begins_with(measurements[4].detail, "needs 1073741824 MiB of memory"));
  CHECK(measurements[6].detail == "built for sparc, device is " + device().target().isa);
}

TEST_CASE("a kernel that hangs is ended at its limit") {
  Measurement hang = measure_with_timeout("hang_run", std::chrono::milliseconds(100));
  CHECK(hang.outcome == Outcome::Timeout);
  CHECK(hang.detail == "did not end within 0.1 s");
}

TEST_CASE("a kernel that hangs with all signals blocked or sleeps is ended at its limit, too") {
  CHECK(measure_with_timeout("deaf_hang_run", std::chrono::milliseconds(100)).outcome == Outcome::Timeout);
  CHECK(measure_with_timeout("sleep_run", std::chrono::milliseconds(100)).outcome == Outcome::Timeout);
}

TEST_CASE("a kernel that exits, forks or kills is one failed measurement") {
  CHECK(measure("exit_run").outcome == Outcome::Crashed);
  CHECK(measure("exit_run").detail == "the process ended with code 0 instead of returning");
  CHECK(measure("fork_run").outcome != Outcome::Ok);
  CHECK(measure("kill_run").outcome != Outcome::Ok);
  CHECK(measure("good_run").outcome == Outcome::Ok);
}

#if !defined(__SANITIZE_ADDRESS__)  // its shadow memory forbids the limit that stops this one
TEST_CASE("a kernel that takes all memory is one failed measurement", "[memory limit]") {
  CHECK(measure("hog_run").detail == "hog_run returned 12");
  CHECK(measure("good_run").outcome == Outcome::Ok);
}
#endif

TEST_CASE("a candidate that is surely slower than the best is cut short, any other is not") {
  TestTask task;
  auto request = task.request({test_artifact("good_run")});
  request.best_ns = 1e-6;  // so far away that no disturbance of the golden kernel brings the verdict near
  Measurement slower = measure_all(request, task).front();
  CHECK(slower.outcome == Outcome::Ok);
  CHECK(slower.cut_short);
  CHECK(slower.samples_ns.size() <= 3);
  request.best_ns = 1e12;
  CHECK_FALSE(measure_all(request, task).front().cut_short);
}

TEST_CASE("a device in an emulator says so in its name and its clock, and compares its times with nobody's") {
  auto emulated = make_cpu_device({.emulated = true}).value();
  CHECK(emulated->target().text() == device().target().text() + "+emulated");
  CHECK(emulated->target().l3_bytes == target_from_name(device().target().cpu)->l3_bytes);  // not this machine's
  TestTask task;
  auto request = task.request({test_artifact("good_run"), test_artifact("wrong_run")});
  request.best_ns = 1;
  auto measurements = emulated->measure(request, task.blobs()).value().measurements;
  CHECK(measurements[0].outcome == Outcome::Ok);
  CHECK(measurements[0].clock == "host under emulation");
  CHECK_FALSE(measurements[0].cut_short);
  CHECK(measurements[1].outcome == Outcome::WrongResult);
  CHECK(measure("good_run").clock == "host");
}

TEST_CASE("interleaved artifacts share a process, and one that ends it does not take the others with it") {
  TestTask task;
  auto request = task.request({test_artifact("good_run"), test_artifact("null_run"), test_artifact("wrong_run"),
                               test_artifact("hang_run"), test_artifact("good_run")});
  request.interleave = true;
  request.policy.timeout = std::chrono::milliseconds(500);
  auto measurements = measure_all(request, task);
  CHECK(measurements[0].outcome == Outcome::Ok);
  CHECK(measurements[1].outcome == Outcome::Crashed);
  CHECK(measurements[2].outcome == Outcome::WrongResult);
  CHECK(measurements[3].outcome == Outcome::Timeout);
  CHECK(measurements[4].outcome == Outcome::Ok);
  CHECK(measurements[0].samples_ns.size() == measurements[4].samples_ns.size());
}

TEST_CASE("inputs of another seed are other inputs") {
  TestTask one(1), two(2);
  CHECK(measure_all(two.request({test_artifact("good_run")}), two).front().outcome == Outcome::Ok);
  auto mixed = one.request({test_artifact("good_run")});
  mixed.inputs.seed = 2;
  CHECK(measure_all(mixed, one).front().outcome == Outcome::WrongResult);
}

TEST_CASE("a cold measurement works like a warm one, or says that this isa has none") {
  TestTask task;
  auto request = task.request({test_artifact("good_run")});
  request.policy.cold = true;
  Measurement measurement = measure_all(request, task).front();
#if defined(__x86_64__) || defined(__aarch64__)
  CHECK(measurement.outcome == Outcome::Ok);
#else
  CHECK(measurement.detail == "caches cannot be flushed on this isa: measure warm");
#endif
}

TEST_CASE("a request that names an unknown blob or another size is an error of the caller") {
  TestTask task;
  auto request = task.request({test_artifact("good_run")});
  request.inputs.expected = hash_text("nothing");
  CHECK(device().measure(request, task.blobs()).error().code == ErrorCode::InvalidArgument);
  request = task.request({test_artifact("good_run")});
  request.artifacts[0].output.shape = {7};
  CHECK(device().measure(request, task.blobs()).error().code == ErrorCode::InvalidArgument);
  CHECK(measure("good_run").outcome == Outcome::Ok);
}

TEST_CASE("a narrowed device says so and refuses what is beyond it") {
  std::string lowest(isa_family(device().target().isa));
  auto narrowed = make_cpu_device({{}, lowest});
  REQUIRE(narrowed);
  CHECK((*narrowed)->target().text() == lowest);
  CHECK((*narrowed)->target().peak_gflops_core > 0.01);
  TestTask task;
  Artifact artifact = test_artifact("good_run");
  artifact.features = {"avx2"};  // not even on x86-64 a part of the lowest level
  auto reply = (*narrowed)->measure(task.request({artifact}), task.blobs());
  CHECK(reply->measurements[0].outcome == Outcome::LaunchFailed);
}

TEST_CASE("cores that are not there are refused") {
  CHECK(make_cpu_device({{100000}, ""}).error().code == ErrorCode::InvalidArgument);
  CHECK(make_cpu_device({{0, 0}, ""}).error().code == ErrorCode::InvalidArgument);
  CHECK(make_cpu_device({{}, "x86-65"}).error().message.find("unknown isa") == 0);
}

/// Process ids of the runners whose parent is `parent`.
static std::vector<int> children_of(int parent) {
  std::ifstream file("/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) + "/children");
  std::vector<int> children;
  for (int pid; file >> pid;) children.push_back(pid);
  return children;
}

TEST_CASE("a device whose runner was killed starts another one") {
  auto before = children_of(getpid());
  auto own = make_cpu_device().value();
  TestTask task;
  for (int pid : children_of(getpid()))
    if (std::ranges::find(before, pid) == before.end()) kill(pid, SIGKILL);
  auto reply = own->measure(task.request({test_artifact("good_run")}), task.blobs());
  REQUIRE(reply);
  CHECK(reply->measurements[0].outcome == Outcome::Ok);
}

TEST_CASE("when the server is killed in the middle of a measurement, no process of its is left") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  pid_t server = fork();
  if (server == 0) {
    auto own = make_cpu_device().value();
    TestTask task;
    auto request = task.request({test_artifact("hang_run")});
    request.policy.timeout = std::chrono::seconds(60);
    (void)!write(ends[1], "x", 1);
    (void)own->measure(request, task.blobs());
    _exit(0);
  }
  close(ends[1]);
  char ready;
  REQUIRE(read(ends[0], &ready, 1) == 1);
  std::vector<int> family;
  while (family.size() < 2) {  // the runner and its child
    family = children_of(server);
    if (family.empty()) continue;
    for (int child : children_of(family.front())) family.push_back(child);
  }
  kill(server, SIGKILL);
  waitpid(server, nullptr, 0);
  auto alive = [](int pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string line;
    std::getline(file, line);
    return !line.empty() && line.find(") Z") == std::string::npos;
  };
  for (int pid : family) {
    for (int i = 0; i < 5000 && alive(pid); ++i) usleep(2000);
    CHECK_FALSE(alive(pid));
  }
  close(ends[0]);
}
