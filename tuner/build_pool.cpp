#include "tuner/build_pool.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "tuner/frame_pipe.h"

extern char** environ;

namespace farm {
namespace {

constexpr int kCannotRun = 127;  // what the dynamic linker and shells end with
constexpr size_t kMaxResultBytes = kMaxBlobBytes + (1 << 20);

// How a worker ended, for the candidate's record.
std::string describe_end(int status) {
  if (WIFSIGNALED(status)) {
    const char* name = sigabbrev_np(WTERMSIG(status));
    return "the compiler died of signal " + std::to_string(WTERMSIG(status)) + " (SIG" + (name ? name : "?") + ")";
  }
  return "the compiler's process ended with code " + std::to_string(WEXITSTATUS(status));
}

// One process and the socket to it.
class Worker {
 public:
  static Result<Worker> spawn(const std::vector<std::string>& command) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      return fail(ErrorCode::Unavailable, "no socket for a build worker: ", std::strerror(errno));
    pid_t pid = -1;
    const int error = spawn_at(command, ends[1], pid);
    close(ends[1]);
    if (error == 0) return Worker(pid, ends[0]);
    close(ends[0]);
    return fail(ErrorCode::Unavailable, "build worker ", command.front(), ": ", std::strerror(error));
  }
  Worker(Worker&& other) noexcept : pid_(std::exchange(other.pid_, -1)), socket_(std::exchange(other.socket_, -1)) {}
  Worker& operator=(Worker&& other) noexcept {
    std::swap(pid_, other.pid_);
    std::swap(socket_, other.socket_);
    return *this;
  }
  ~Worker() {
    if (pid_ >= 0) end();
  }

  // Unavailable when it died while it had nothing to do.
  Status give(const BuildJob& job) { return send_frame(socket_, to_bytes(job)); }
  Result<BuildResult> result(Deadline deadline, const std::atomic<bool>& give_up) {
    FARM_CHECK(wait_for_frame(socket_, deadline, give_up));
    FARM_TRY(const auto bytes, receive_frame(socket_, kMaxResultBytes, deadline));
    return from_bytes<BuildResult>(bytes, "result of a build worker");
  }

  // Kills and buries it; the status says how it had ended.
  int end() {
    kill(pid_, SIGKILL);
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    close(socket_);
    pid_ = socket_ = -1;
    return status;
  }

 private:
  Worker(pid_t pid, int socket) : pid_(pid), socket_(socket) {}

  static int spawn_at(const std::vector<std::string>& command, int socket, pid_t& pid) {
    const std::string parent = std::to_string(getpid());
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(const_cast<char*>(parent.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, socket, STDIN_FILENO);
    // A compiler's last words would tear the progress line.
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);  // out of reach of the terminal's Ctrl-C
    const int error = posix_spawn(&pid, arguments[0], &files, &attributes, arguments.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return error;
  }

  pid_t pid_ = -1;
  int socket_ = -1;
};

// A place for a worker, who is replaced when he fails.
class Bench {
 public:
  Bench(const BuildPoolOptions& options, const std::atomic<bool>& ending) : options_(options), ending_(ending) {}

  Result<BuildResult> build(const BuildJob& job) {
    const auto begin = std::chrono::steady_clock::now();
    FARM_CHECK(hand_over(job));
    auto result = worker_->result(begin + options_.deadline, ending_);
    if (result) return result;
    FARM_TRY(std::string why, fire(result.error()));
    return BuildResult{.error = std::move(why),
                       .build_ns = std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count()};
  }

  // Early: a compiler takes a while to be there.
  Status hire() {
    if (worker_) return {};
    FARM_TRY(Worker worker, Worker::spawn(options_.command));
    worker_.emplace(std::move(worker));
    return {};
  }

 private:
  Status hand_over(const BuildJob& job) {
    if (worker_ && worker_->give(job)) return {};
    worker_.reset();
    FARM_CHECK(hire());
    return worker_->give(job);
  }

  // Why the candidate failed; an Error when it was not the candidate.
  Result<std::string> fire(const Error& error) {
    const int status = worker_->end();
    worker_.reset();
    if (error.code == ErrorCode::Interrupted) return std::unexpected(error);
    if (error.code == ErrorCode::DeadlineExceeded) {
      const auto seconds = std::chrono::ceil<std::chrono::seconds>(options_.deadline).count();
      return "the compiler did not end within " + std::to_string(seconds) + " s";
    }
    if (error.code != ErrorCode::Unavailable) return error.message;
    if (WIFEXITED(status) && WEXITSTATUS(status) == kCannotRun)
      return fail(ErrorCode::Unavailable, "build worker ", options_.command.front(), " cannot be run here");
    return describe_end(status);
  }

  const BuildPoolOptions& options_;
  const std::atomic<bool>& ending_;
  std::optional<Worker> worker_;
};

}  // namespace

BuildPool::BuildPool(BuildPoolOptions options) : options_(std::move(options)) {
  FARM_ASSERT(!options_.command.empty() && options_.workers > 0, options_.workers, " workers of ",
              options_.command.size(), " words");
  for (int i = 0; i < options_.workers; ++i) threads_.emplace_back([this] { work(); });
}

BuildPool::~BuildPool() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
    orders_.clear();
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

std::vector<std::future<Result<BuildResult>>> BuildPool::start(std::vector<BuildJob> jobs) {
  std::vector<std::future<Result<BuildResult>>> results;
  std::lock_guard lock(mutex_);
  for (BuildJob& job : jobs) results.push_back(orders_.emplace_back(Order{std::move(job), {}}).result.get_future());
  changed_.notify_all();
  return results;
}

void BuildPool::work() {
  Bench bench(options_, ending_);
  (void)bench.hire();  // a failure shows again, with the first job
  while (auto order = next_order()) order->result.set_value(bench.build(order->job));
}

std::optional<BuildPool::Order> BuildPool::next_order() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ending_ || !orders_.empty(); });
  if (ending_) return std::nullopt;
  Order order = std::move(orders_.front());
  orders_.pop_front();
  return order;
}

}  // namespace farm
