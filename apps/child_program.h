// One of our own serving programs as a child process: started, waited for until it serves, ended with this object.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace farm {

/// Move only. The child also ends when the thread that started it does (--die-with-parent), so start it from main's.
class ChildProgram {
 public:
  struct Options {
    std::string program;            ///< path, see program_beside_this
    std::vector<std::string> args;  ///< without --ready-fd and --die-with-parent, which are added
    std::string log;                ///< file to which its standard error is appended; empty: nowhere
    std::chrono::milliseconds ready_timeout{10'000};
  };
  /// Returns once it serves. NotFound without such a program; Unavailable, with its last words, when it ended instead.
  static Result<ChildProgram> start(const Options& options);
  ChildProgram(ChildProgram&& other) noexcept;
  ChildProgram& operator=(ChildProgram&& other) noexcept;
  ~ChildProgram();

  pid_t pid() const { return pid_; }
  uint16_t port() const { return port_; }
  bool running();
  /// SIGTERM, and SIGKILL when it does not end in time; the exit code, 128 + the signal that it died of.
  int stop(std::chrono::milliseconds patience = std::chrono::seconds(5));
  /// SIGKILL and wait.
  void kill();

 private:
  ChildProgram() = default;
  Status wait_until_ready(int fd, const Options& options);
  bool reap(int flags);

  pid_t pid_ = -1;
  uint16_t port_ = 0;
  int exit_code_ = -1;
};

/// Path of the program of that name in the folder of the running one.
std::string program_beside_this(const std::string& name);

}  // namespace farm
