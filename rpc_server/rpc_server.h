// Door of the room `rpc_server`: the device's side. Registers with a tracker and measures for whoever holds the lease.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "rpc/event_loop.h"
#include "runtime/runtime.h"

namespace farm {

struct DeviceServerOptions {
  Address tracker;
  std::string key;                  ///< the queue's label at the tracker
  std::string id;                   ///< unique in the farm; empty: key@host:port
  Address listen{"127.0.0.1", 0};   ///< where clients come; port 0: any free one
  size_t max_blob_bytes = 1 << 30;  ///< of all blobs of a session together
  std::chrono::milliseconds heartbeat{5'000};
  std::chrono::milliseconds tracker_silence{15'000};  ///< the tracker is taken for gone, and looked for again
};

/// Serves on the loop until it is destroyed, which ends what is measured. `loop`, `device` and `clock` outlive it.
/// Looks for the tracker for as long as it takes; sessions go on while it is away.
class DeviceServer {
 public:
  static Result<std::unique_ptr<DeviceServer>> start(EventLoop& loop, Device& device, const Clock& clock,
                                                     DeviceServerOptions options);
  virtual ~DeviceServer() = default;
  /// Where it listens, and its id.
  virtual const Address& address() const = 0;
  virtual const std::string& id() const = 0;
  /// Called each time that the tracker took the registration.
  virtual void on_registered(std::function<void()> call) = 0;
};

}  // namespace farm
