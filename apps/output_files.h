// Files that appear whole or not at all.
#pragma once
#include <cstddef>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace farm {

/// A file that is being written beside its place and takes that place at commit(), so that a failure or a reader in
/// between sees the old one. A symbolic link stays one: the file that it leads to is replaced. What exists and is no
/// regular file (a pipe, a terminal) cannot be replaced and is written straight.
/// Errors are Unavailable and name the path and the reason; what was not committed leaves nothing over.
class PendingFile {
 public:
  static Result<PendingFile> open(const std::string& path);
  PendingFile(PendingFile&&) = default;
  PendingFile& operator=(PendingFile&&) = delete;
  ~PendingFile();

  /// False once a write failed; commit() says why.
  bool write(std::string_view bytes);
  /// Everything is in the file system. Nothing may be written after it.
  Status finish();
  Status commit();  ///< finishes first

 private:
  PendingFile(std::string path, std::string place, std::string unfinished);
  std::unexpected<Error> cannot_write(const std::string& reason) const;

  std::string path_;        // as the person wrote it
  std::string place_;       // behind links
  std::string unfinished_;  // empty: written straight, or already moved
  std::unique_ptr<std::ofstream> out_;
  int error_ = 0;  // errno of the first failure
};

struct OutputFile {
  std::string path;
  std::span<const std::byte> content;
};

/// All of them or none.
Status write_files(const std::vector<OutputFile>& files);

/// Whether both names lead to one file, existing or not.
bool is_same_file(const std::string& one, const std::string& other);

/// InvalidArgument when `path`, given with `flag`, is the database that is being read: it would be lost.
Status check_not_database(const std::string& flag, const std::string& path, const std::string& database);

}  // namespace farm
