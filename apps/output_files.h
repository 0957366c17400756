// Files that appear whole or not at all.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace farm {

struct OutputFile {
  std::string path;
  std::span<const std::byte> content;
};

/// Writes each beside its place first and moves them there when all are whole, so that a failure or a reader in between
/// sees the old files. Unavailable, naming the path and the reason, and then nothing is left over.
Status write_files(const std::vector<OutputFile>& files);

}  // namespace farm
