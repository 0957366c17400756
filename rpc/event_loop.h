// One event loop a process, one thread, no mutex: connections that carry frames, timers, signals. Asio stays behind it.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "rpc/frame.h"

namespace farm {

/// Never used twice in a loop; 0 is none.
using ConnectionId = uint64_t;

/// What happens on connections; called on the loop's thread. Nothing may throw.
struct ConnectionHandlers {
  /// The greeting was understood; frames of any size follow. `from` is the other side's host. An error refuses an
  /// incoming connection, to which nothing may be sent yet.
  std::function<Status(ConnectionId, Role, const std::string& name, const std::string& from)> opened;
  std::function<void(ConnectionId, Frame)> frame;
  /// Once for each that was opened, and for each connect() that came to nothing.
  std::function<void(ConnectionId, const Error& why)> closed;
};

struct EventLoopLimits {
  size_t max_connections = 40'000;
  size_t max_queued_bytes = 256 << 20;  ///< unsent bytes of one connection; above it the reader is too slow
  std::chrono::milliseconds opening_deadline{5'000};  ///< from the connection to Hello
  std::chrono::milliseconds frame_deadline{30'000};   ///< without progress inside a frame
};

class EventLoop {
 public:
  static std::unique_ptr<EventLoop> create(EventLoopLimits limits = {});
  virtual ~EventLoop() = default;

  /// Accepts connections from now on; port 0 takes any free one. Returns the address that it listens on.
  virtual Result<Address> listen(const Address& address, const std::string& name, ConnectionHandlers handlers) = 0;
  /// Starts connecting; `opened` or `closed` follows.
  virtual ConnectionId connect(const Address& address, Role role, const std::string& name,
                               std::chrono::milliseconds timeout, ConnectionHandlers handlers) = 0;
  /// Queues a frame; to a closed connection it goes nowhere. Order is kept.
  virtual void send(ConnectionId connection, std::vector<std::byte> frame) = 0;
  template <class Message>
  void send_message(ConnectionId connection, const Message& message) {
    send(connection, to_frame(message));
  }
  /// Sends what is queued, then ends the connection; `closed` follows.
  virtual void close(ConnectionId connection, const std::string& why) = 0;

  /// Calls once after `delay`; there is no cancelling: a caller that no longer cares looks at its own state.
  virtual void after(std::chrono::milliseconds delay, std::function<void()> call) = 0;
  /// From any thread: runs `call` on the loop's thread.
  virtual void post(std::function<void()> call) = 0;
  /// SIGINT and SIGTERM come here instead of ending the process.
  virtual void on_signal(std::function<void(int)> call) = 0;

  /// Serves until stop(). stop() may be called from any thread; connections end without `closed`.
  virtual void run() = 0;
  virtual void stop() = 0;
};

}  // namespace farm
