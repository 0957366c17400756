// Private to the room: whole messages over a socket between tune and its build workers, which are of one build.
#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"

namespace farm {

using Deadline = std::chrono::steady_clock::time_point;

/// A 32-bit length and the bytes. Unavailable when the other side is gone; never raises SIGPIPE.
Status send_frame(int socket, std::span<const std::byte> bytes);
/// Returns when a message begins to arrive. DeadlineExceeded; Interrupted soon after `give_up` turned true.
Status wait_for_frame(int socket, Deadline deadline, const std::atomic<bool>& give_up);
/// Unavailable when the other side is gone, DeadlineExceeded, Corrupt beyond `limit` bytes.
Result<std::vector<std::byte>> receive_frame(int socket, size_t limit, Deadline deadline);

}  // namespace farm
