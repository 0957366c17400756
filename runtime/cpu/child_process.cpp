#include "runtime/cpu/child_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>

#include "runtime/cpu/frame_io.h"
#include "runtime/cpu/sandbox.h"

namespace farm {

static constexpr size_t kMaxReplyBytes = 64 << 20;

ChildLauncher::ChildLauncher(int server) : server_(server), server_pid_(getppid()) {
  void* memory = mmap(nullptr, sizeof(ChildReport), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  FARM_ASSERT(memory != MAP_FAILED, "no page of shared memory: ", std::strerror(errno));
  report_ = new (memory) ChildReport;
}

void wait_for_server(int server) {
  int parent = getppid();
  pollfd ready{server, POLLIN, 0};
  // The socket closes with the server, unless a process forked from it keeps a copy open: so look who the parent is,
  // too.
  while (poll(&ready, 1, 1000) <= 0)
    if (getppid() != parent) _exit(0);
}

// In the child
// ---------------------------------------------------------------------------------------------------------------

/// Beyond what is mapped at the fork: buffers, code, stacks and the allocator's arenas, and some room.
static int64_t memory_allowance(const ChildJob& job) {
  int64_t bytes = int64_t{256} << 20;
  for (const Artifact* artifact : job.artifacts)
    bytes += artifact->packed_bytes + artifact->workspace_bytes + artifact->output.bytes() +
             2 * static_cast<int64_t>(artifact->blob.size()) + (int64_t{160} << 20) * artifact->threads;
  return bytes + (int64_t{160} << 20) * job.peak_threads;
}

static int64_t total_timeout_ns(const ChildJob& job) {
  return job.policy.timeout.count() * static_cast<int64_t>(std::max<size_t>(1, job.artifacts.size()));
}

static void write_and_exit(int fd, const ChildReply& reply) {
  std::vector<std::byte> bytes = to_bytes(reply);
  for (size_t done = 0; done < bytes.size();) {
    ssize_t written = write(fd, bytes.data() + done, bytes.size() - done);
    if (written <= 0) break;
    done += static_cast<size_t>(written);
  }
  _exit(0);
}

[[noreturn]] static void be_child(const ChildJob& job, ChildReport& report, int parent, int pipe) {
  setsid();  // a process group to be killed as a whole, and a scheduling group of its own
  leave_parent_behind(std::span(&pipe, 1));
  int64_t cpu_seconds = total_timeout_ns(job) / 1'000'000'000 * static_cast<int64_t>(job.cores.size()) + 2;
  limit_process(parent, cpu_seconds, memory_allowance(job));
  write_and_exit(pipe, run_child_job(job, report));
  _exit(1);
}

// In the runner
// ----------------------------------------------------------------------------------------------------------------

static std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return fmt::format("signal {} (SIG{})", signal, name ? name : "?");
}

static Fault timeout_fault(const ChildJob& job) {
  return {Outcome::Timeout,
          fmt::format("did not end within {:g} s", static_cast<double>(job.policy.timeout.count()) * 1e-9)};
}

/// Why a child that gave no reply ended.
static Fault explain_end(int status, const ChildReport& report, const ChildJob& job) {
  if (report.out_of_bounds) return {Outcome::OutOfBounds, fmt::format("touched memory {}", report.where)};
  if (report.signal == SIGABRT) return {Outcome::Crashed, signal_name(SIGABRT)};
  if (report.signal)
    return {Outcome::Crashed, fmt::format("{} at address {:#x}", signal_name(report.signal), uint64_t{report.address})};
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) return timeout_fault(job);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
    return {Outcome::Crashed, signal_name(SIGSYS) + ": made a system call that kernels may not make"};
  if (WIFSIGNALED(status)) return {Outcome::Crashed, signal_name(WTERMSIG(status))};
  return {Outcome::Crashed, fmt::format("the process ended with code {} instead of returning", WEXITSTATUS(status))};
}

/// Reads the child's pipe to its end; false when a limit was reached first.
class ReplyReader {
 public:
  ReplyReader(int pipe, int server, int server_pid, pid_t child)
      : pipe_(pipe), server_(server), server_pid_(server_pid), child_(child) {}

  bool read_to_end(const ChildJob& job, const ChildReport& report) {
    auto now = std::chrono::steady_clock::now();
    Deadline end = now + std::chrono::nanoseconds(total_timeout_ns(job));
    Deadline stall = now + job.policy.timeout;
    int32_t steps = report.steps;
    while (true) {
      Deadline limit = std::min(end, stall);
      wait(limit);
      if (readable_ && !read_some()) return true;
      if (bytes_.size() > kMaxReplyBytes || std::chrono::steady_clock::now() >= limit) return false;
      if (report.steps != steps) {
        steps = report.steps;
        stall = std::chrono::steady_clock::now() + job.policy.timeout;
      }
    }
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  /// Until there is something to read, the limit, or a little while.
  void wait(Deadline limit) {
    pollfd ready[] = {{pipe_, POLLIN, 0}, {server_, 0, 0}};
    poll(ready, 2, milliseconds_until(limit, 250));
    readable_ = ready[0].revents != 0;
    if (ready[1].revents != 0 || getppid() != server_pid_) {
      kill(-child_, SIGKILL);
      kill(child_, SIGKILL);
      _exit(0);
    }
  }
  bool read_some() {
    std::byte block[16384];
    ssize_t count = read(pipe_, block, sizeof block);
    if (count > 0) bytes_.insert(bytes_.end(), block, block + count);
    return count > 0 || (count < 0 && errno == EINTR);
  }

  int pipe_, server_, server_pid_;
  pid_t child_;
  bool readable_ = false;
  std::vector<std::byte> bytes_;
};

/// The status that it ended with; whatever still runs of its group dies.
static int bury(pid_t child) {
  kill(-child, SIGKILL);
  kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

std::expected<ChildReply, ChildFailure> ChildLauncher::run(const ChildJob& job) {
  *report_ = ChildReport{};
  int ends[2];
  if (pipe(ends) != 0) return std::unexpected(ChildFailure{0, {Outcome::LaunchFailed, "no pipe for a child"}});
  pid_t runner = getpid(), child = fork();
  if (child == 0) be_child(job, *report_, runner, ends[1]);
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return std::unexpected(ChildFailure{0, {Outcome::LaunchFailed, "no process for a child"}});
  }
  ReplyReader reader(ends[0], server_, server_pid_, child);
  bool ended = reader.read_to_end(job, *report_);
  close(ends[0]);
  int status = bury(child);
  if (!ended) return std::unexpected(ChildFailure{report_->active, timeout_fault(job)});
  if (auto reply = from_bytes<ChildReply>(reader.bytes(), "reply");
      reply && reply->measurements.size() == job.artifacts.size())
    return std::move(*reply);
  return std::unexpected(ChildFailure{report_->active, explain_end(status, *report_, job)});
}

}  // namespace farm
