// A device's connection to its tracker: made again for ever, with heartbeats.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/rng.h"
#include "rpc/event_loop.h"

namespace farm {

struct TrackerLinkOptions {
  Address tracker;
  std::string name;  ///< the device's id
  std::chrono::milliseconds heartbeat{5'000};
  std::chrono::milliseconds silence{15'000};
};

class TrackerLink {
 public:
  struct Handlers {
    std::function<DeviceReport()> report;  ///< asked at each new connection
    std::function<void(const DeviceGrantMessage&)> grant;
    std::function<void(const DeviceExtendMessage&)> extend;
    std::function<void(const DeviceRevokeMessage&)> revoke;
    std::function<void()> registered;
  };
  TrackerLink(EventLoop& loop, const Clock& clock, TrackerLinkOptions options, Handlers handlers);
  /// Takes the device off the tracker's list.
  ~TrackerLink();
  TrackerLink(const TrackerLink&) = delete;

  void check_in();

 private:
  void connect();
  void connect_again();
  Status on_frame(const Frame& frame);
  Status on_answer(const Frame& frame);
  void on_closed(const Error& why);
  void beat_for_ever();

  EventLoop& loop_;
  const Clock& clock_;
  TrackerLinkOptions options_;
  Handlers handlers_;
  Rng rng_;
  ConnectionId connection_ = 0;
  bool registered_ = false;
  bool said_lost_ = false;
  std::chrono::milliseconds pause_;
  Clock::time_point heard_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace farm
