// Door of the room `tracker`: hands devices to clients, one lease at a time.
#pragma once
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "rpc/event_loop.h"
#include "tracker/lease_table.h"

namespace farm {

struct TrackerOptions {
  Address listen{"127.0.0.1", 9190};  ///< port 0: any free one
  LeaseTableOptions table{};          ///< first_epoch is set by start()
};

/// Serves on the loop until it is destroyed. Both `loop` and `clock` outlive it.
class Tracker {
 public:
  static Result<std::unique_ptr<Tracker>> start(EventLoop& loop, const Clock& clock, TrackerOptions options);
  virtual ~Tracker() = default;
  /// Where it listens.
  virtual const Address& address() const = 0;
};

}  // namespace farm
