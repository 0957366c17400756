#include "codegen/llvm/memory_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace farm::codegen {
namespace {

std::unexpected<Error> failed(const char* what) {
  return fail(ErrorCode::Unavailable, "codegen: ", what, " a file in memory: ", std::strerror(errno));
}

}  // namespace

Result<MemoryFile> MemoryFile::create(std::span<const std::byte> content) {
  const int descriptor = memfd_create("farm", MFD_CLOEXEC);
  if (descriptor < 0) return failed("cannot create");
  MemoryFile file(descriptor);
  for (size_t done = 0; done < content.size();) {
    const ssize_t count = write(descriptor, content.data() + done, content.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return failed("cannot write");
    done += static_cast<size_t>(count);
  }
  return file;
}

MemoryFile::MemoryFile(MemoryFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

MemoryFile::~MemoryFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

std::string MemoryFile::path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

}  // namespace farm::codegen
