#include "tuner/build_worker.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <list>
#include <memory>

#include "schedule/schedule.h"
#include "tensor/tensor.h"
#include "tuner/frame_pipe.h"

namespace farm {
namespace {

constexpr size_t kMaxJobBytes = 1 << 20;
constexpr size_t kSpacesKept = 4;

using SpacePointer = std::shared_ptr<const ScheduleSpace>;

// A run has few spaces and asks for each many times.
class SpaceCache {
 public:
  Result<SpacePointer> get(const BuildJob& job) {
    for (const SpacePointer& space : spaces_)
      if (space->task().text() == job.task && space->target() == job.target && space->threads() == job.threads)
        return space;
    FARM_TRY(const Task task, task_from_text(job.task));
    FARM_TRY(SpacePointer space, make_space(task, job.target, job.threads));
    spaces_.push_front(space);
    if (spaces_.size() > kSpacesKept) spaces_.pop_back();
    return space;
  }

 private:
  std::list<SpacePointer> spaces_;
};

Status build_into(const BuildJob& job, Backend& backend, SpaceCache& spaces, BuildResult& result) {
  FARM_TRY(const SpacePointer space, spaces.get(job));
  FARM_TRY(const Candidate candidate, candidate_from_text(job.candidate));
  FARM_TRY(Program program, instantiate(*space, candidate));
  result.program = program.hash;
  result.trace = std::move(program.trace);
  FARM_TRY(result.artifact, backend.build(program.lowered, job.target, job.threads));
  return {};
}

BuildResult build_timed(const BuildJob& job, Backend& backend, SpaceCache& spaces) {
  const auto begin = std::chrono::steady_clock::now();
  BuildResult result;
  if (auto built = build_into(job, backend, spaces, result); !built) result.error = built.error().message;
  result.build_ns = std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
  return result;
}

// Ctrl-C is the parent's business: it still wants to store what arrived.
void live_and_die_with(int parent) {
  std::signal(SIGINT, SIG_IGN);
  prctl(PR_SET_NAME, "farm-build");
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);
}

}  // namespace

BuildResult build_candidate(const BuildJob& job, Backend& backend) {
  SpaceCache spaces;
  return build_timed(job, backend, spaces);
}

void serve_build_jobs(int socket, int parent, Backend& backend) {
  live_and_die_with(parent);
  SpaceCache spaces;
  for (;;) {
    const auto bytes = receive_frame(socket, kMaxJobBytes, Deadline::max());
    if (!bytes) return;
    const auto job = from_bytes<BuildJob>(*bytes, "build job");
    const BuildResult result = job ? build_timed(*job, backend, spaces) : BuildResult{.error = job.error().message};
    if (!send_frame(socket, to_bytes(result))) return;
  }
}

}  // namespace farm
