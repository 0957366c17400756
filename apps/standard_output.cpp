#include "apps/standard_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

namespace farm {

void prepare_standard_streams() {
  // Not SIG_IGN, which programs that are started from here would inherit.
  std::signal(SIGPIPE, [](int) {});
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) >= 0) continue;
    (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);  // its use still fails
  }
}

Status print(std::string_view text) {
  errno = 0;
  std::fwrite(text.data(), 1, text.size(), stdout);
  return flush_output();
}

Status flush_output() {
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return {};
  if (errno == EPIPE) return std::unexpected(Error{ErrorCode::Unavailable, ""});
  return fail(ErrorCode::Unavailable, "standard output cannot be written: ", std::strerror(errno ? errno : EIO));
}

}  // namespace farm
