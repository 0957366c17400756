// Build workers as processes: the real compiler, and workers that crash, hang, are killed or cannot be run.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/text.h"
#include "testing.h"
#include "tuner/tuner.h"

namespace farm {
namespace {

BuildJob job_of(int rows) {
  const Task task = *make_task("matmul", "m=" + std::to_string(rows) + ",n=8,k=8");
  const Target target = *target_from_name("x86-64-v3");
  const auto space = *make_space(task, target, 1);
  return {task.text(), target, 1, space->default_candidate().text()};
}

BuildPool make_pool(int workers, std::chrono::milliseconds deadline = std::chrono::seconds(60)) {
  return BuildPool({.command = {BAD_BUILD_WORKER}, .workers = workers, .deadline = deadline});
}

BuildResult build(BuildPool& pool, int rows) {
  auto results = pool.start({job_of(rows)});
  auto result = results.front().get();
  REQUIRE(result);
  return *result;
}

// Processes of that name whose parent this is.
std::vector<pid_t> children_called(const std::string& name) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const auto pid = parse_int(entry.path().filename().string());
    if (!pid) continue;
    std::ifstream stat(entry.path() / "stat");
    std::string text((std::istreambuf_iterator<char>(stat)), {});
    const size_t end = text.rfind(')');
    if (end == std::string::npos || text.find("(" + name + ")") == std::string::npos) continue;
    const auto words = split(text.substr(end + 2), ' ');
    if (parse_int(words[1]) == getpid() && words[0] != "Z") found.push_back(static_cast<pid_t>(*pid));
  }
  return found;
}

}  // namespace

TEST_CASE("workers build what an in-process compiler builds") {
  BuildPool pool = make_pool(2);
  const BuildResult result = build(pool, 8);
  INFO(result.error);
  REQUIRE(result.artifact);
  CHECK(result.program != Hash{});
  CHECK_FALSE(result.trace.empty());
  CHECK(result.build_ns > 0);
  auto backend = make_llvm_backend();
  const BuildResult here = build_candidate(job_of(8), *backend);
  REQUIRE(here.artifact);
  CHECK(artifact_hash(*here.artifact) == artifact_hash(*result.artifact));
}

TEST_CASE("results come in the order of the jobs, more of them than workers") {
  BuildPool pool = make_pool(2);
  std::vector<BuildJob> jobs;
  for (int rows = 1; rows <= 9; ++rows) jobs.push_back(job_of(rows));
  auto results = pool.start(jobs);
  for (int rows = 1; rows <= 9; ++rows) {
    const auto result = results[static_cast<size_t>(rows - 1)].get();
    REQUIRE(result);
    REQUIRE(result->artifact);
    CHECK(result->artifact->output.elements() == rows * 8);
  }
}

TEST_CASE("a compiler that crashes costs one candidate") {
  BuildPool pool = make_pool(1);
  const BuildResult crashed = build(pool, 13);
  CHECK_FALSE(crashed.artifact);
  CHECK(crashed.error == "the compiler died of signal 11 (SIGSEGV)");
  CHECK(build(pool, 8).artifact);
}

TEST_CASE("a compiler that hangs costs one candidate and its deadline") {
  BuildPool pool = make_pool(1, std::chrono::seconds(3));
  REQUIRE(build(pool, 8).artifact);
  const BuildResult hung = build(pool, 17);
  CHECK_FALSE(hung.artifact);
  CHECK(hung.error == "the compiler did not end within 3 s");
  CHECK(children_called("farm-build").size() <= 1);
}

TEST_CASE("a worker that was killed while it had nothing to do costs nothing") {
  BuildPool pool = make_pool(1);
  REQUIRE(build(pool, 8).artifact);
  const auto workers = children_called("farm-build");
  REQUIRE(workers.size() == 1);
  REQUIRE(kill(workers.front(), SIGKILL) == 0);
  while (!children_called("farm-build").empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(build(pool, 9).artifact);
}

TEST_CASE("a job that makes no sense is a failed candidate") {
  BuildPool pool = make_pool(1);
  BuildJob job = job_of(8);
  job.candidate = "no such{thing=1}";
  auto results = pool.start({job});
  const auto result = results.front().get();
  REQUIRE(result);
  CHECK_FALSE(result->artifact);
  CHECK_FALSE(result->error.empty());
}

TEST_CASE("a worker program that is not there is the world's fault, not a candidate's") {
  BuildPool pool({.command = {"/no/such/program"}, .workers = 1});
  auto results = pool.start({job_of(8)});
  const auto result = results.front().get();
  REQUIRE_FALSE(result);
  CHECK(result.error().code == ErrorCode::Unavailable);
}

TEST_CASE("a worker program that ends at once builds nothing, and the pool goes on to its end") {
  BuildPool pool({.command = {"/bin/false"}, .workers = 1});
  auto results = pool.start({job_of(8), job_of(16)});
  // Whether it was still there to take the job is chance.
  for (auto& future : results) {
    const auto result = future.get();
    CHECK((!result || !result->artifact));
  }
}

TEST_CASE("a pool that ends in the middle of a build leaves no process") {
  {
    BuildPool pool = make_pool(2);
    (void)pool.start({job_of(17), job_of(17), job_of(8)});
    while (children_called("farm-build").empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  CHECK(children_called("farm-build").empty());
}

}  // namespace farm
