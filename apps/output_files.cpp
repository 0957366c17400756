#include "apps/output_files.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/text.h"

namespace farm {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // as many as Linux follows

/// The file that a chain of symbolic links leads to, also when that file does not exist yet.
fs::path behind_links(fs::path path) {
  std::error_code error;
  for (int i = 0; i < kMostLinks && fs::is_symlink(path, error); ++i) {
    fs::path next = fs::read_symlink(path, error);
    if (error) break;
    path = next.is_absolute() ? next : path.parent_path() / next;
  }
  return path;
}

bool is_replaceable(const fs::path& place) {
  std::error_code error;
  fs::file_status status = fs::status(place, error);
  return !fs::exists(status) || fs::is_regular_file(status);
}

}  // namespace

PendingFile::PendingFile(std::string path, std::string place, std::string unfinished)
    : path_(std::move(path)), place_(std::move(place)), unfinished_(std::move(unfinished)) {}

PendingFile::~PendingFile() {
  std::error_code ignored;
  if (out_ && !unfinished_.empty()) fs::remove(unfinished_, ignored);
}

std::unexpected<Error> PendingFile::cannot_write(const std::string& reason) const {
  return fail(ErrorCode::Unavailable, "file ", printable(path_), " cannot be written: ", reason);
}

Result<PendingFile> PendingFile::open(const std::string& path) {
  std::string place = behind_links(path).string();
  bool beside = is_replaceable(place);
  PendingFile file(path, place, beside ? place + "." + std::to_string(getpid()) + ".unfinished" : "");
  std::error_code ignored;
  if (fs::is_directory(place, ignored)) return file.cannot_write("it is a folder");
  errno = 0;
  file.out_ = std::make_unique<std::ofstream>(beside ? file.unfinished_ : place, std::ios::binary | std::ios::trunc);
  if (!*file.out_) return file.cannot_write(std::strerror(errno ? errno : EIO));
  return file;
}

bool PendingFile::write(std::string_view bytes) {
  errno = 0;
  bool done = bool(out_->write(bytes.data(), static_cast<std::streamsize>(bytes.size())));
  if (!done && error_ == 0) error_ = errno ? errno : EIO;
  return done;
}

Status PendingFile::finish() {
  if (!out_->is_open()) return {};
  errno = 0;
  out_->close();
  if (!*out_ && error_ == 0) error_ = errno ? errno : EIO;
  return error_ == 0 ? Status() : Status(cannot_write(std::strerror(error_)));
}

Status PendingFile::commit() {
  FARM_CHECK(finish());
  if (unfinished_.empty()) return {};
  std::error_code error;
  fs::rename(unfinished_, place_, error);
  if (error) return cannot_write(error.message());
  unfinished_.clear();
  return {};
}

Status write_files(const std::vector<OutputFile>& files) {
  std::vector<PendingFile> pending;
  for (const OutputFile& file : files) {
    FARM_TRY(PendingFile one, PendingFile::open(file.path));
    (void)one.write({reinterpret_cast<const char*>(file.content.data()), file.content.size()});
    FARM_CHECK(one.finish());
    pending.push_back(std::move(one));
  }
  for (PendingFile& one : pending) FARM_CHECK(one.commit());
  return {};
}

bool is_same_file(const std::string& one, const std::string& other) {
  std::error_code error;
  if (fs::equivalent(one, other, error)) return true;  // hard links too
  fs::path a = fs::weakly_canonical(behind_links(one), error), b = fs::weakly_canonical(behind_links(other), error);
  return !a.empty() && a == b;
}

Status check_not_database(const std::string& flag, const std::string& path, const std::string& database) {
  if (!is_same_file(path, database)) return {};
  return fail(ErrorCode::InvalidArgument, flag, " ", printable(path),
              " is the database that is being read; choose another file");
}

}  // namespace farm
