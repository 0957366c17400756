#include "codegen/llvm/output_pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>

namespace farm::codegen {
namespace {

/// Until all writers are gone.
void read_all(int descriptor, std::vector<std::byte>& content) {
  constexpr size_t kChunk = 1 << 16;
  for (size_t size = 0;;) {
    content.resize(size + kChunk);
    const ssize_t count = read(descriptor, content.data() + size, kChunk);
    if (count < 0 && errno == EINTR) continue;
    if (count > 0)
      size += static_cast<size_t>(count);
    else
      return content.resize(size);
  }
}

}  // namespace

Result<std::vector<std::byte>> capture_output(const std::function<Status(const std::string& path)>& write) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return fail(ErrorCode::Unavailable, "codegen: cannot open a pipe: ", std::strerror(errno));
  std::vector<std::byte> content;
  std::thread reader([&] { read_all(ends[0], content); });
  const Status written = write("/proc/self/fd/" + std::to_string(ends[1]));
  close(ends[1]);
  reader.join();
  close(ends[0]);
  FARM_CHECK(written);
  return content;
}

}  // namespace farm::codegen
