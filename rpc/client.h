// Clients of the tracker and of a device. Blocking calls with deadlines; each object belongs to one thread.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/runtime.h"
#include "target/target.h"

namespace farm {

struct Address {
  std::string host = "127.0.0.1";
  uint16_t port = 0;
  /// As parse_address reads it.
  std::string text() const {
    bool bare = host.find(':') == std::string::npos;
    return (bare ? host : "[" + host + "]") + ":" + std::to_string(port);
  }
  bool operator==(const Address&) const = default;
};
/// "host:port"; host may be a name, an IPv4 address or [IPv6].
Result<Address> parse_address(std::string_view text);

/// A device key is the label of a queue: 1 to 48 letters, digits and signs of ._-+:@/. It stands in commands, status
/// tables and logs, so it has no blank and nothing that a terminal or a shell obeys. A device id is any line of up to 128
/// bytes. InvalidArgument otherwise; `what` says whose it is: "--key".
Status check_device_key(std::string_view what, std::string_view key);
Status check_device_id(std::string_view what, std::string_view id);

/// Proof that a device may be used: the device checks the epoch (which only rises) and ends the session itself when
/// the lease ends.
struct LeaseToken {
  std::string device_id;
  uint64_t epoch = 0;
  uint64_t secret = 0;
  bool operator==(const LeaseToken&) const = default;
};
struct LeaseGrant {
  LeaseToken token;
  Address device;                    ///< where to connect
  std::chrono::milliseconds ttl{0};  ///< renewed by the client before it ends
};

struct DeviceInfo {
  std::string id, key;
  Target target;
  Address address;
  std::string state;   ///< "free", "leased", "lost" (not connected), "set aside" (reported bad)
  std::string holder;  ///< who leases it; empty
};
struct QueueInfo {
  std::string key;
  int devices = 0, free = 0, waiting = 0;
};
struct LeaseInfo {
  std::string device_id, key, holder;
  uint64_t epoch = 0;
  double seconds_left = 0;
};
struct TrackerStatus {
  std::vector<DeviceInfo> devices;
  std::vector<QueueInfo> queue;
  std::vector<LeaseInfo> leases;
};

/// Where a request stands while it waits.
struct QueuePosition {
  int position = 0;       ///< 1 is next
  int devices = 0;        ///< connected under the key; 0: unknown key
  bool connected = true;  ///< false: the tracker is away, the request is made again when it is back
};

/// A connection that broke is made again: by lease() with jittered pauses for as long as `progress` lets it, by the
/// other calls once (then Unavailable). The tracker frees a lease when its client's connection ends; one that a
/// restarted tracker learned from the device goes on with the next renew().
class TrackerClient {
 public:
  static Result<std::unique_ptr<TrackerClient>> connect(const Address& tracker, std::chrono::milliseconds timeout,
                                                        std::string user);
  virtual ~TrackerClient() = default;
  /// Waits in the queue of `key`. No device registered under it for `unknown_key_wait`: NotFound with the keys that
  /// exist. Registered but busy: waits without limit, `progress` (about once a second; false cancels) says where.
  virtual Result<LeaseGrant> lease(const std::string& key, int priority, std::chrono::milliseconds unknown_key_wait,
                                   const std::function<bool(const QueuePosition&)>& progress) = 0;
  virtual Status renew(const LeaseToken& token) = 0;
  virtual Status release(const LeaseToken& token) = 0;
  /// The device did not answer or broke: the tracker sets it aside until it registers or checks in again.
  virtual Status report_bad(const LeaseToken& token, const std::string& why) = 0;
  virtual Result<TrackerStatus> status() = 0;
};

class DeviceClient {
 public:
  static Result<std::unique_ptr<DeviceClient>> connect(const LeaseGrant& grant, std::chrono::milliseconds timeout);
  virtual ~DeviceClient() = default;
  virtual const Target& target() const = 0;
  virtual const std::string& device_id() const = 0;
  /// Ships a blob once a connection; the device keeps it under its content hash until the session ends.
  virtual Status put_blob(std::span<const std::byte> bytes) = 0;
  /// Artifacts are shipped with the request; the blobs that its InputSet names must have been put before.
  /// `while_waiting` is called about ten times a second (renew the lease there); false cancels.
  /// Unavailable: the lease has ended or the device is gone; NotFound: a blob was dropped there, put it again.
  virtual Result<MeasureReply> measure(const MeasureRequest& request, const std::function<bool()>& while_waiting) = 0;
  /// Seconds that measure() spent so far on handing requests to the network; a slow link shows here.
  virtual double sending_seconds() const { return 0; }
};

}  // namespace farm
