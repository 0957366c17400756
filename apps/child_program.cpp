#include "apps/child_program.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>
#include <utility>

#include "base/text.h"

namespace farm {
namespace {

constexpr int kReadyFd = 3;

std::string last_line(const std::string& path) {
  std::ifstream file(path);
  std::string line, last;
  while (std::getline(file, line)) {
    if (!line.empty()) last = line;
  }
  return last;
}

// Only what is allowed between fork and exec.
[[noreturn]] void become(const char* program, char* const* arguments, int ready, int log) {
  setpgid(0, 0);  // a terminal's Ctrl-C is the parent's business: it ends its children itself
  int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(nothing, 0);
  dup2(nothing, 1);
  dup2(log >= 0 ? log : nothing, 2);
  if (ready == kReadyFd) {
    fcntl(ready, F_SETFD, 0);
  } else {
    dup2(ready, kReadyFd);
  }
  execv(program, arguments);
  _exit(127);
}

}  // namespace

Result<ChildProgram> ChildProgram::start(const Options& options) {
  if (access(options.program.c_str(), X_OK) != 0) return fail(ErrorCode::NotFound, "no program ", options.program);
  std::vector<std::string> words = options.args;
  words.insert(words.begin(), options.program);
  words.insert(words.end(), {"--ready-fd", std::to_string(kReadyFd), "--die-with-parent"});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  int ready[2];
  if (pipe2(ready, O_CLOEXEC) != 0) return fail(ErrorCode::Unavailable, "no pipe: ", std::strerror(errno));
  int log = options.log.empty() ? -1 : open(options.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  ChildProgram child;
  child.pid_ = fork();
  if (child.pid_ == 0) become(options.program.c_str(), arguments.data(), ready[1], log);
  close(ready[1]);
  if (log >= 0) close(log);
  Status started = child.pid_ < 0 ? fail(ErrorCode::Unavailable, "no process: ", std::strerror(errno))
                                  : child.wait_until_ready(ready[0], options);
  close(ready[0]);
  if (!started) return std::unexpected(started.error());
  return child;
}

Status ChildProgram::wait_until_ready(int fd, const Options& options) {
  auto deadline = std::chrono::steady_clock::now() + options.ready_timeout;
  std::string line;
  while (line.empty() || line.back() != '\n') {
    auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    pollfd entry{fd, POLLIN, 0};
    int ready = left > 0 ? poll(&entry, 1, static_cast<int>(left)) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return fail(ErrorCode::DeadlineExceeded, options.program, " did not start in time");
    char text[16];
    ssize_t got = read(fd, text, sizeof text);
    if (got <= 0) {
      std::string words = options.log.empty() ? "" : last_line(options.log);
      return fail(ErrorCode::Unavailable, options.program, " ended at once with code ", stop(),
                  words.empty() ? "" : ": ", words);
    }
    line.append(text, static_cast<size_t>(got));
  }
  port_ = static_cast<uint16_t>(parse_int(trim(line)).value_or(0));
  return {};
}

ChildProgram::ChildProgram(ChildProgram&& other) noexcept { *this = std::move(other); }

ChildProgram& ChildProgram::operator=(ChildProgram&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(port_, other.port_);
  std::swap(exit_code_, other.exit_code_);
  return *this;
}

ChildProgram::~ChildProgram() { stop(); }

// True when it is over.
bool ChildProgram::reap(int flags) {
  if (pid_ < 0) return true;
  int status = 0;
  pid_t done = waitpid(pid_, &status, flags);
  if (done == 0 || (done < 0 && errno == EINTR)) return false;
  exit_code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  pid_ = -1;
  return true;
}

bool ChildProgram::running() { return !reap(WNOHANG); }

int ChildProgram::stop(std::chrono::milliseconds patience) {
  if (pid_ > 0) ::kill(pid_, SIGTERM);
  auto deadline = std::chrono::steady_clock::now() + patience;
  while (!reap(WNOHANG)) {
    if (std::chrono::steady_clock::now() >= deadline) kill();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return exit_code_;
}

void ChildProgram::kill() {
  if (pid_ > 0) ::kill(pid_, SIGKILL);
  while (!reap(0)) {
  }
}

std::string program_beside_this(const std::string& name) {
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  std::string self(path, length > 0 ? static_cast<size_t>(length) : 0);
  return self.substr(0, self.rfind('/') + 1) + name;
}

}  // namespace farm
