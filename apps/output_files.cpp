#include "apps/output_files.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/text.h"

namespace farm {
namespace {

/// Unfinished files that go away unless they were moved to their place.
class Unfinished {
 public:
  ~Unfinished() {
    std::error_code ignored;
    for (const std::string& path : paths_) std::filesystem::remove(path, ignored);
  }
  const std::string& add(const std::string& place) {
    paths_.push_back(place + "." + std::to_string(getpid()) + ".unfinished");
    return paths_.back();
  }
  const std::string& path(size_t i) const { return paths_[i]; }

 private:
  std::vector<std::string> paths_;
};

std::unexpected<Error> cannot_write(const std::string& path, const std::string& reason) {
  return fail(ErrorCode::Unavailable, "file ", printable(path), " cannot be written: ", reason);
}

Status write_file(const std::string& path, const OutputFile& file) {
  errno = 0;
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(file.content.data()), static_cast<std::streamsize>(file.content.size()));
  out.close();
  if (!out) return cannot_write(file.path, std::strerror(errno ? errno : EIO));
  return {};
}

}  // namespace

Status write_files(const std::vector<OutputFile>& files) {
  Unfinished unfinished;
  std::error_code error;
  for (const OutputFile& file : files) {
    if (std::filesystem::is_directory(file.path, error)) return cannot_write(file.path, "it is a folder");
    FARM_CHECK(write_file(unfinished.add(file.path), file));
  }
  for (size_t i = 0; i < files.size(); ++i) {
    std::filesystem::rename(unfinished.path(i), files[i].path, error);
    if (error) return cannot_write(files[i].path, error.message());
  }
  return {};
}

}  // namespace farm
