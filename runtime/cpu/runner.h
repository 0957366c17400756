// The runner: a small process, forked from the server before that has threads or memory, which forks a child for each
// measurement and ends it at its deadline. It lives until its socket closes and takes its child with it.
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "runtime/measurement.h"
#include "target/target.h"

namespace farm {

/// Server to runner: blobs that it does not have yet, then the request.
struct RunnerRequest {
  bool forget_blobs = false;  ///< drop the old ones first
  std::vector<std::pair<Hash, std::vector<std::byte>>> blobs;
  MeasureRequest request;
};
void encode(ByteWriter& out, const RunnerRequest& value);
void decode(ByteReader& in, RunnerRequest& value);

/// Runner to server, once at start and then once a request.
struct RunnerReply {
  Error error{};         ///< of the device, when the message is not empty
  MeasureReply reply;    ///< at start only the peak: one core's
  bool filtered = true;  ///< at start: whether a kernel's system calls can be forbidden
};
void encode(ByteWriter& out, const RunnerReply& value);
void decode(ByteReader& in, RunnerReply& value);

inline constexpr size_t kMaxRunnerMessage = sizeof(size_t) > 4 ? size_t{4} << 30 : size_t{1} << 30;

/// What the runner serves until `socket` closes. Never returns.
[[noreturn]] void run_runner(int socket, const Target& target, const std::vector<int>& cores);

}  // namespace farm
