// Who may use which device until when. Pure: time comes in, events go out, no socket and no clock of its own.
//
// A lease is not a lock: the device is the fence. Every grant carries an epoch that only rises; a device obeys the
// highest epoch that it was told and ends a session itself when its lease ends. So nothing here has to be durable:
// after a restart the table is rebuilt from what the devices report when they register again.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "rpc/messages.h"

namespace farm {

/// One connection, of a client or of a device; 0 is nobody.
using PeerId = uint64_t;

struct LeaseTableOptions {
  std::chrono::milliseconds ttl{15'000};            ///< a lease ends when it is not renewed for this long
  std::chrono::milliseconds lost_after{15'000};     ///< a device is lost when it is silent for this long
  std::chrono::milliseconds forget_after{600'000};  ///< a lost device leaves the status after this long
  std::chrono::milliseconds position_every{1'000};  ///< how often a waiting client is told where it stands
  size_t max_devices = 20'000;
  size_t max_waiting = 20'000;
  size_t max_waiting_per_peer = 64;
  uint64_t first_epoch = 1;  ///< higher than all of earlier trackers where possible; devices' reports raise it
};

/// What a waiting request asked for.
struct LeaseWish {
  uint32_t request = 0;  ///< the client's own number, in every event about it
  std::string key;
  std::string holder;  ///< shown in the status
  int priority = 0;    ///< higher first; clamped to -1000 .. 1000
  std::chrono::milliseconds unknown_key_wait{0};
};

// What the table wants to be told to whom, in order.
struct GrantToDevice {
  PeerId device;
  LeaseToken token;
  std::chrono::milliseconds ttl;
  std::string holder;
};
struct ExtendAtDevice {
  PeerId device;
  uint64_t epoch;
  std::chrono::milliseconds ttl;
};
/// `check_in`: the device was reported bad and must say when it is in order again.
struct RevokeAtDevice {
  PeerId device;
  uint64_t epoch;
  bool check_in;
};
struct GrantToClient {
  PeerId client;
  uint32_t request;
  LeaseGrant grant;
};
struct RefuseRequest {
  PeerId client;
  uint32_t request;
  Error error;
};
struct TellPosition {
  PeerId client;
  uint32_t request;
  QueuePosition position;
};
/// The connection is of no more use: a lost device's, or an old one of a device that came back.
struct DropPeer {
  PeerId peer;
};
using TableEvent =
    std::variant<GrantToDevice, ExtendAtDevice, RevokeAtDevice, GrantToClient, RefuseRequest, TellPosition, DropPeer>;

class LeaseTable {
 public:
  using Time = Clock::time_point;
  /// `secret` gives a number that nobody can guess, a new one at each call.
  LeaseTable(LeaseTableOptions options, std::function<uint64_t()> secret);

  // Devices. A report names the lease that the device holds, which an empty table adopts.
  Status register_device(PeerId peer, const DeviceReport& report, Time now);
  void heartbeat(PeerId peer, Time now);
  void check_in(PeerId peer, Time now);
  void unregister(PeerId peer, Time now);

  // Clients. A request is answered by one GrantToClient or RefuseRequest, and by TellPosition until then.
  Status request(PeerId client, const LeaseWish& wish, Time now);
  void cancel(PeerId client, uint32_t request);
  /// Any connection that shows the token may renew: it takes over a lease that a restarted tracker adopted.
  Status renew(PeerId client, const LeaseToken& token, Time now);
  Status release(PeerId client, const LeaseToken& token, Time now);
  Status report_bad(PeerId client, const LeaseToken& token, Time now);

  /// The connection closed: a client's leases and requests end, a device is lost until it comes back.
  void peer_gone(PeerId peer, Time now);
  /// Ends what has run out; call it a few times a second.
  void tick(Time now);

  /// What happened since the last call, in order.
  std::vector<TableEvent> take_events();
  TrackerStatus status(Time now) const;

 private:
  struct Lease {
    LeaseToken token;
    std::string holder;
    PeerId client = 0;
    Time until;
  };
  struct Device {
    DeviceReport report;
    PeerId peer = 0;  ///< 0: not connected
    Time last_seen;
    bool bad = false;
    std::optional<Lease> lease;
    uint64_t free_order = 0;  ///< place among the pool's free devices; 0: not free
  };
  struct Waiter {
    PeerId client;
    LeaseWish wish;
    Time since;
  };
  using QueueKey = std::pair<int, uint64_t>;  ///< -priority, then age
  struct Pool {
    std::map<uint64_t, Device*> free;  ///< longest idle first, so that wear spreads
    std::map<QueueKey, Waiter> queue;
    int connected = 0;
    Time empty_since;
  };
  struct Peer {
    Device* device = nullptr;
    std::unordered_set<Device*> leases;
    std::map<uint32_t, std::pair<std::string, QueueKey>> waiting;  ///< request -> pool and place
  };

  Status check_report(PeerId peer, const DeviceReport& report, Time now) const;
  void reconcile(Device& device, const DeviceReport& report, Time now);
  void connect(Device& device, PeerId peer, Time now);
  void disconnect(Device& device, Time now);
  void make_free(Device& device);
  void unfree(Device& device);
  void match(Pool& pool);
  void grant(Device& device, PeerId client, const LeaseWish& wish);
  void end_lease(Device& device, bool tell_device);
  Result<Device*> leased_device(const LeaseToken& token, Time now);
  void bind_lease(Device& device, PeerId client);
  void drop_waiter(const std::string& key, const QueueKey& place);
  void refuse_unknown_keys(Time now);
  void tell_positions(Time now);
  void tick_device(Device& device, Time now);
  Error unknown_key(const std::string& key) const;
  void forget_if_unused(const std::string& key);

  LeaseTableOptions options_;
  std::function<uint64_t()> secret_;
  uint64_t next_epoch_;
  uint64_t next_order_ = 1;
  size_t waiting_ = 0;
  Time now_{};
  Time positions_told_{};
  std::map<std::string, Device> devices_;
  std::map<std::string, Pool> pools_;
  std::unordered_map<PeerId, Peer> peers_;
  std::vector<TableEvent> events_;
};

}  // namespace farm
