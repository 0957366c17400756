#include "tuning_db/writer_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>
#include <thread>

namespace farm {
namespace {

// fcntl's locks belong to the process: children made by fork (builders, measured kernels) do not keep a dead tuner's
// database locked, and the kernel knows the holder's id. Their price: a second lock in the same process would succeed,
// and closing any descriptor of the file lets go. So the process remembers the paths that it holds.
std::mutex g_mutex;
std::set<std::string>& held() {
  static std::set<std::string> paths;
  return paths;
}

std::unexpected<Error> locked_by(const std::string& database, const std::string& holder) {
  return fail(ErrorCode::Unavailable, "database ", database, " is being written by ", holder,
              "; wait until it ends or choose another with --db");
}

std::string lock_path(const std::string& database) {
  std::error_code ignored;
  auto resolved = std::filesystem::weakly_canonical(database, ignored);  // one lock for all names of a file
  return (ignored ? database : resolved.string()) + ".lock";
}

struct flock whole_file() {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

std::string holder_of(int fd) {
  struct flock lock = whole_file();
  bool known = fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK && lock.l_pid > 0;
  return known ? "process " + std::to_string(lock.l_pid) : "another process";
}

/// False when a holder removed the file between our open and our lock.
bool is_still(const std::string& path, int fd) {
  struct stat by_path{}, by_fd{};
  return stat(path.c_str(), &by_path) == 0 && fstat(fd, &by_fd) == 0 && by_path.st_ino == by_fd.st_ino &&
         by_path.st_dev == by_fd.st_dev;
}

}  // namespace

Result<WriterLock> WriterLock::acquire(const std::string& database) {
  for (int tries = 0;; ++tries) {
    auto lock = try_acquire(database);
    if (lock || tries == 10) return lock;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

Result<WriterLock> WriterLock::try_acquire(const std::string& database) {
  std::string path = lock_path(database);
  std::lock_guard guard(g_mutex);
  if (held().contains(path)) return locked_by(database, "this process (" + std::to_string(getpid()) + ")");
  for (;;) {
    int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0)
      return fail(ErrorCode::Unavailable, "database ", database, " cannot be written: ", path, ": ",
                  std::strerror(errno));
    struct flock lock = whole_file();
    if (fcntl(fd, F_SETLK, &lock) != 0) {
      std::string holder = holder_of(fd);
      close(fd);
      return locked_by(database, holder);
    }
    if (is_still(path, fd)) {
      held().insert(path);
      return WriterLock(fd, path);
    }
    close(fd);
  }
}

WriterLock::WriterLock(WriterLock&& other) noexcept : fd_(other.fd_), path_(std::move(other.path_)) { other.fd_ = -1; }

WriterLock::~WriterLock() {
  if (fd_ < 0) return;
  std::lock_guard guard(g_mutex);
  unlink(path_.c_str());  // while it is still held, so that nobody's newer file is removed
  close(fd_);
  held().erase(path_);
}

}  // namespace farm
