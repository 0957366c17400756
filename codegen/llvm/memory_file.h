// A file that exists in memory only and has a path while it is open: what LLD reads.
#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "base/result.h"

namespace farm::codegen {

class MemoryFile {
 public:
  static Result<MemoryFile> create(std::span<const std::byte> content);
  MemoryFile(MemoryFile&& other) noexcept;
  MemoryFile& operator=(MemoryFile&&) = delete;
  ~MemoryFile();

  /// Good in this process, as long as this object lives.
  std::string path() const;

 private:
  explicit MemoryFile(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace farm::codegen
