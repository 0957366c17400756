#include "runtime/cpu/cpu_device.h"

#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <set>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "runtime/cpu/frame_io.h"
#include "runtime/cpu/runner.h"
#include "runtime/encoding.h"

namespace farm {

/// The runner's process and our end of its socket.
class RunnerProcess {
 public:
  static Result<RunnerProcess> start(const Target& target, const std::vector<int>& cores) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      return fail(ErrorCode::Unavailable, "no socket for the runner: ", std::strerror(errno));
    pid_t pid = fork();
    if (pid == 0) run_runner(ends[1], target, cores);
    close(ends[1]);
    if (pid < 0) {
      close(ends[0]);
      return fail(ErrorCode::Unavailable, "no process for the runner: ", std::strerror(errno));
    }
    return RunnerProcess(pid, ends[0]);
  }
  RunnerProcess(RunnerProcess&& other) noexcept { *this = std::move(other); }
  RunnerProcess& operator=(RunnerProcess&& other) noexcept {
    std::swap(pid_, other.pid_);
    std::swap(socket_, other.socket_);
    return *this;
  }
  ~RunnerProcess() {
    if (pid_ < 0) return;
    close(socket_);  // it ends its child first, then itself
    for (int i = 0; i < 200; ++i) {
      if (waitpid(pid_, nullptr, WNOHANG) != 0) return;
      usleep(1000 + 50 * i);
    }
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  /// From any thread while this lives: the runner finds its socket closed, ends its child and itself.
  void interrupt() { shutdown(socket_, SHUT_RDWR); }

  Status send(const RunnerRequest& request) { return write_frame(socket_, to_bytes(request)); }
  Result<RunnerReply> receive(Deadline deadline) {
    FARM_TRY(auto bytes, read_frame(socket_, kMaxRunnerMessage, deadline));
    return from_bytes<RunnerReply>(bytes, "reply of the runner");
  }

 private:
  RunnerProcess(pid_t pid, int socket) : pid_(pid), socket_(socket) {}
  pid_t pid_ = -1;
  int socket_ = -1;
};

class CpuDevice final : public Device {
 public:
  CpuDevice(Target target, std::vector<int> cores) : target_(std::move(target)), cores_(std::move(cores)) {}

  const Target& target() const override { return target_; }

  /// Also after the runner died.
  Status start_runner() {
    set_runner(nullptr);
    sent_.clear();
    sent_bytes_ = 0;
    FARM_TRY(RunnerProcess runner, RunnerProcess::start(target_, cores_));
    FARM_TRY(RunnerReply hello, runner.receive(std::chrono::steady_clock::now() + std::chrono::seconds(30)));
    if (target_.peak_gflops_core == 0) target_.peak_gflops_core = hello.reply.peak_gflops;
    if (!hello.filtered && !std::exchange(said_unfiltered_, true))
      log_event(LogLevel::Warning, "sandbox",
                {{"missing", "filter of system calls"}, {"still", "own process, limits, guard pages, deadline"}});
    set_runner(std::make_unique<RunnerProcess>(std::move(runner)));
    return {};
  }

  Result<MeasureReply> measure(const MeasureRequest& request, const BlobSource& blobs) override {
    set_measuring(true);
    auto reply = measure_again_if_lost(request, blobs);
    bool cancelled = set_measuring(false);
    if (!reply && cancelled) return fail(ErrorCode::Unavailable, "measurement cancelled");
    return reply;
  }

  void cancel() override {
    std::lock_guard lock(mutex_);
    if (!measuring_) return;
    cancelled_ = true;
    if (runner_) runner_->interrupt();
  }

 private:
  /// What cancel() sees; returns whether the measurement at hand was cancelled.
  bool set_measuring(bool measuring) {
    std::lock_guard lock(mutex_);
    measuring_ = measuring;
    return std::exchange(cancelled_, false);
  }
  bool cancelled() {
    std::lock_guard lock(mutex_);
    return cancelled_;
  }
  void set_runner(std::unique_ptr<RunnerProcess> runner) {
    {
      std::lock_guard lock(mutex_);
      std::swap(runner_, runner);
    }
    // The old one is waited for out here, so that cancel() never waits.
  }

  Result<MeasureReply> measure_again_if_lost(const MeasureRequest& request, const BlobSource& blobs) {
    auto reply = measure_once(request, blobs);
    if (reply || reply.error().code == ErrorCode::InvalidArgument || cancelled()) return reply;
    FARM_CHECK(start_runner());
    return measure_once(request, blobs);
  }

  Result<MeasureReply> measure_once(const MeasureRequest& request, const BlobSource& blobs) {
    if (!runner_) FARM_CHECK(start_runner());
    FARM_TRY(RunnerRequest message, make_message(request, blobs));
    if (cancelled()) return fail(ErrorCode::Unavailable, "measurement cancelled");
    auto reply = exchange(message);
    if (!reply) {
      set_runner(nullptr);
      return fail(ErrorCode::Unavailable, "the runner of this device: ", reply.error().message);
    }
    if (!reply->error.message.empty()) return std::unexpected(reply->error);
    return std::move(reply->reply);
  }

  Result<RunnerReply> exchange(const RunnerRequest& message) {
    FARM_CHECK(runner_->send(message));
    for (const auto& [hash, bytes] : message.blobs) {
      sent_.insert(hash);
      sent_bytes_ += bytes.size();
    }
    // A child that ends its group is replaced, so an artifact may be run as often as there are artifacts.
    auto count = static_cast<int64_t>(message.request.artifacts.size());
    auto rounds = message.request.interleave ? count * count : count;
    auto longest = std::chrono::duration_cast<std::chrono::seconds>(message.request.policy.timeout) * (rounds + 1);
    return runner_->receive(std::chrono::steady_clock::now() + longest + std::chrono::seconds(20));
  }

  /// The request with those blobs that the runner does not have yet.
  Result<RunnerRequest> make_message(const MeasureRequest& request, const BlobSource& blobs) {
    RunnerRequest message;
    message.request = request;
    if (sent_bytes_ > kMaxCachedBytes) {
      message.forget_blobs = true;
      sent_.clear();
      sent_bytes_ = 0;
    }
    for (const Hash& hash : {request.inputs.expected, request.inputs.terms}) {
      if (sent_.contains(hash)) continue;
      auto blob = blobs(hash);
      if (blob.empty())
        return fail(ErrorCode::InvalidArgument, "the request names the blob ", to_string(hash),
                    ", which was not sent to this device");
      message.blobs.emplace_back(hash, std::vector<std::byte>(blob.begin(), blob.end()));
    }
    return message;
  }

  static constexpr size_t kMaxCachedBytes = 512 << 20;
  Target target_;
  std::vector<int> cores_;
  std::mutex mutex_;  ///< of the next three: what cancel() touches from another thread
  std::unique_ptr<RunnerProcess> runner_;
  bool measuring_ = false, cancelled_ = false;
  bool said_unfiltered_ = false;
  std::set<Hash> sent_;
  size_t sent_bytes_ = 0;
};

static std::vector<int> allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return {0};
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

static std::string list_text(const std::vector<int>& numbers) {
  std::vector<std::string> words;
  for (int number : numbers) words.push_back(std::to_string(number));
  return join(words, ",");
}

static Result<std::vector<int>> choose_cores(const std::vector<int>& wanted) {
  std::vector<int> allowed = allowed_cores();
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (std::ranges::find(allowed, wanted[i]) == allowed.end())
      return fail(ErrorCode::InvalidArgument, "core ", wanted[i], " is not one that this process may use (",
                  list_text(allowed), ")");
    if (std::ranges::count(wanted, wanted[i]) > 1)
      return fail(ErrorCode::InvalidArgument, "core ", wanted[i], " is named twice in ", list_text(wanted));
  }
  return wanted.empty() ? allowed : wanted;
}

/// What an emulator shows of caches is this machine's; a typical member's are nearer the truth.
static void take_typical_caches(Target& target) {
  Target typical = target_from_name(target.cpu).value_or(Target{});
  target.l1_bytes = typical.l1_bytes;
  target.l2_bytes = typical.l2_bytes;
  target.l3_bytes = typical.l3_bytes;
}

Result<std::unique_ptr<Device>> make_cpu_device(const CpuDeviceOptions& options) {
  FARM_TRY(std::vector<int> cores, choose_cores(options.cores));
  Target target = describe_host();
  if (!options.isa.empty()) {
    FARM_TRY(target, narrow(target, options.isa));
  }
  target.cores = static_cast<int>(cores.size());
  target.emulated = options.emulated;
  if (target.emulated) take_typical_caches(target);
  auto device = std::make_unique<CpuDevice>(std::move(target), std::move(cores));
  FARM_CHECK(device->start_runner());
  return device;
}

}  // namespace farm
