#include "runtime/cpu/frame_io.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace farm {

int milliseconds_until(Deadline deadline, int most_ms) {
  auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, most_ms));
}

static Status write_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t written = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (written < 0 && errno == ENOTSOCK) written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return fail(ErrorCode::Unavailable, "the other process is gone: ", std::strerror(errno));
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return {};
}

static Status read_all(int fd, std::span<std::byte> bytes, Deadline deadline) {
  while (!bytes.empty()) {
    pollfd ready{fd, POLLIN, 0};
    int events = poll(&ready, 1, milliseconds_until(deadline, 1000));
    if (events == 0 && std::chrono::steady_clock::now() >= deadline)
      return fail(ErrorCode::DeadlineExceeded, "the other process did not answer in time");
    if (events <= 0) continue;
    ssize_t count = read(fd, bytes.data(), bytes.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) return fail(ErrorCode::Unavailable, "the other process is gone");
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return {};
}

Status write_frame(int fd, std::span<const std::byte> bytes) {
  uint64_t size = bytes.size();
  FARM_CHECK(write_all(fd, std::as_bytes(std::span(&size, 1))));
  return write_all(fd, bytes);
}

Result<std::vector<std::byte>> read_frame(int fd, size_t limit, Deadline deadline) {
  uint64_t size = 0;
  FARM_CHECK(read_all(fd, std::as_writable_bytes(std::span(&size, 1)), deadline));
  if (size > limit) return fail(ErrorCode::Corrupt, "a message of ", size, " bytes is beyond the limit of ", limit);
  std::vector<std::byte> bytes(size);
  FARM_CHECK(read_all(fd, bytes, deadline));
  return bytes;
}

}  // namespace farm
