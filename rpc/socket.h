// A blocking TCP connection with deadlines, and the options that all our connections have. Inside rpc only.
#pragma once
#include <chrono>
#include <optional>
#include <span>

#include "base/result.h"
#include "rpc/client.h"
#include "rpc/frame.h"

namespace farm {

using Deadline = std::chrono::steady_clock::time_point;

/// No delay for small frames; keepalive and a user timeout of 15 s as a second line behind the heartbeats.
void set_connection_options(int socket);

/// Owns the socket. Each call ends at its deadline; after an error other than DeadlineExceeded it is broken for good.
class Socket {
 public:
  /// Unavailable when nobody listens, NotFound for an unknown host name, DeadlineExceeded.
  static Result<Socket> connect(const Address& address, Deadline deadline);
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&& other) noexcept;
  ~Socket();

  Status send(std::span<const std::byte> frame, Deadline deadline);
  /// The next frame; DeadlineExceeded when none is complete in time: the bytes so far are kept for the next call.
  Result<Frame> receive(Deadline deadline);

 private:
  explicit Socket(int fd) : fd_(fd) {}
  int fd_ = -1;
  FrameReader reader_;
};

/// Connects and exchanges Hello and Welcome; the name of the other side goes to `peer`. Errors name no address: the
/// caller knows what it wanted there.
Result<Socket> open_connection(const Address& address, Role role, const std::string& name, Deadline deadline,
                               std::string* peer = nullptr);

}  // namespace farm
