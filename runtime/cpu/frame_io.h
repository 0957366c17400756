// Whole messages over a pipe or socket pair between two processes of ours.
#pragma once
#include <chrono>
#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"

namespace farm {

using Deadline = std::chrono::steady_clock::time_point;

/// A length and the bytes. Unavailable when the other side is gone.
Status write_frame(int fd, std::span<const std::byte> bytes);
/// Unavailable when the other side is gone, DeadlineExceeded, Corrupt beyond `limit`.
Result<std::vector<std::byte>> read_frame(int fd, size_t limit, Deadline deadline);

/// Poll's timeout until then: 0 when it is over, at most `most_ms`.
int milliseconds_until(Deadline deadline, int most_ms);

}  // namespace farm
