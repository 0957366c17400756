#include "tuner/frame_pipe.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

namespace farm {
namespace {

constexpr size_t kBlockBytes = 1 << 20;
constexpr std::chrono::milliseconds kLookEvery{50};

std::unexpected<Error> gone() { return fail(ErrorCode::Unavailable, "the other process is gone"); }

Status wait_readable(int socket, Deadline deadline) {
  for (;;) {
    // An hour at most: poll counts in int milliseconds.
    const auto left =
        std::min<std::chrono::nanoseconds>(deadline - std::chrono::steady_clock::now(), std::chrono::hours(1));
    if (left <= std::chrono::nanoseconds(0)) return fail(ErrorCode::DeadlineExceeded, "no answer in time");
    pollfd ready{socket, POLLIN, 0};
    const int count = poll(&ready, 1, static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count()));
    if (count > 0) return {};
    if (count < 0 && errno != EINTR) return gone();
  }
}

Status receive_all(int socket, std::span<std::byte> bytes, Deadline deadline) {
  while (!bytes.empty()) {
    FARM_CHECK(wait_readable(socket, deadline));
    const ssize_t count = recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) return gone();
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return {};
}

Status send_all(int socket, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return gone();
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return {};
}

}  // namespace

Status send_frame(int socket, std::span<const std::byte> bytes) {
  const auto size = static_cast<uint32_t>(bytes.size());
  FARM_CHECK(send_all(socket, std::as_bytes(std::span(&size, 1))));
  return send_all(socket, bytes);
}

Status wait_for_frame(int socket, Deadline deadline, const std::atomic<bool>& give_up) {
  for (;;) {
    if (give_up) return fail(ErrorCode::Interrupted, "given up");
    auto ready = wait_readable(socket, std::min(deadline, std::chrono::steady_clock::now() + kLookEvery));
    if (ready || ready.error().code != ErrorCode::DeadlineExceeded || std::chrono::steady_clock::now() >= deadline)
      return ready;
  }
}

Result<std::vector<std::byte>> receive_frame(int socket, size_t limit, Deadline deadline) {
  uint32_t size = 0;
  FARM_CHECK(receive_all(socket, std::as_writable_bytes(std::span(&size, 1)), deadline));
  if (size > limit)
    return fail(ErrorCode::Corrupt, "a message of ", size, " bytes when at most ", limit, " are allowed");
  std::vector<std::byte> bytes;
  while (bytes.size() < size) {  // grows with what arrives
    const size_t have = bytes.size();
    bytes.resize(std::min<size_t>(size, have + kBlockBytes));
    FARM_CHECK(receive_all(socket, std::span(bytes).subspan(have), deadline));
  }
  return bytes;
}

}  // namespace farm
