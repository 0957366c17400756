#include "tuning_db/database_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace farm {
namespace {

constexpr const char* kAsk = "; ask its owner for access or choose another with --db";

/// With the rights that opening would have. 0, or why not.
int refusal(const std::string& path, int access) {
  return faccessat(AT_FDCWD, path.c_str(), access, AT_EACCESS) == 0 ? 0 : errno;
}

/// "permission denied": the system's words as part of a sentence.
std::string in_words(int error) {
  std::string words = std::strerror(error);
  words[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(words[0])));
  return words;
}

std::string folder_of(const DatabaseFiles& files) { return std::filesystem::path(files.real).parent_path().string(); }

/// A pipe would keep SQLite waiting for ever.
Status check_is_file(const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode)) return {};
  return fail(ErrorCode::Unavailable, path, S_ISDIR(status.st_mode) ? " is a folder" : " is a device or a pipe",
              "; a database is a file, and --db FILE names one");
}

int64_t nanoseconds(const timespec& time) { return time.tv_sec * 1'000'000'000 + time.tv_nsec; }

}  // namespace

DatabaseFiles files_of(const std::string& path) {
  std::error_code ignored;
  auto resolved = std::filesystem::weakly_canonical(std::filesystem::absolute(path, ignored), ignored);
  return {path, ignored ? path : resolved.string()};
}

Status check_readable(const DatabaseFiles& files) {
  int why = refusal(files.path, R_OK);
  if (why == ENOENT || why == ENOTDIR)
    return fail(ErrorCode::NotFound, "no database ", files.path, "; tune writes one, --db FILE names another");
  FARM_CHECK(check_is_file(files.path));
  if (why != 0) return fail(ErrorCode::Unavailable, "database ", files.path, " cannot be read: ", in_words(why), kAsk);
  int log = refusal(files.log(), R_OK);
  if (log != 0 && log != ENOENT)
    return fail(ErrorCode::Unavailable, "database ", files.path, " cannot be read: its log ", files.log(), ": ",
                in_words(log), kAsk);
  return {};
}

Status check_writable(const DatabaseFiles& files) {
  std::string folder = folder_of(files);
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored) && refusal(folder, F_OK) != EACCES)
    return fail(ErrorCode::NotFound, "no folder ", std::filesystem::path(files.path).parent_path().string(),
                " for the database ", files.path);
  FARM_CHECK(check_is_file(files.path));
  int why = refusal(files.real, R_OK | W_OK);
  if (why != 0 && why != ENOENT)
    return fail(ErrorCode::Unavailable, "database ", files.path, " cannot be written: ", in_words(why), kAsk);
  why = refusal(folder, W_OK | X_OK);
  if (why != 0)
    return fail(ErrorCode::Unavailable, "database ", files.path, " cannot be written: its folder ", folder, ": ",
                in_words(why), kAsk);
  return {};
}

bool may_write(const DatabaseFiles& files) {
  return refusal(files.real, W_OK) == 0 && refusal(folder_of(files), W_OK | X_OK) == 0;
}

bool has_log_content(const DatabaseFiles& files) {
  std::error_code ignored;
  auto bytes = std::filesystem::file_size(files.log(), ignored);
  return !ignored && bytes > 0;
}

bool has_log_and_index(const DatabaseFiles& files) {
  return refusal(files.log(), F_OK) == 0 && refusal(files.index(), F_OK) == 0;
}

FileStamp stamp_of(const DatabaseFiles& files) {
  FileStamp stamp;
  struct stat status{};
  if (stat(files.real.c_str(), &status) == 0) {
    stamp.inode = status.st_ino;
    stamp.bytes = status.st_size;
    stamp.written_ns = nanoseconds(status.st_mtim);
  }
  if (stat(files.log().c_str(), &status) == 0) {
    stamp.log_bytes = status.st_size;
    stamp.log_written_ns = nanoseconds(status.st_mtim);
  }
  return stamp;
}

}  // namespace farm
