// The device's own truth about who may use it: the fence that no late or forged token passes. Pure: time comes in.
#pragma once
#include <chrono>
#include <optional>
#include <string>

#include "base/clock.h"
#include "rpc/messages.h"

namespace farm {

enum class Admission {
  Yes,
  NotYet,  ///< an epoch above all that it was told: the tracker's word may still be on its way
  Stale,   ///< an ended lease, or not the secret of the running one
};

class LeaseFence {
 public:
  using Time = Clock::time_point;

  /// The tracker's grant. False, and nothing changes, when its epoch is not above all earlier ones.
  bool grant(const LeaseToken& token, const std::string& holder, std::chrono::milliseconds ttl, Time now);
  /// False when it is not the running lease.
  bool extend(uint64_t epoch, std::chrono::milliseconds ttl, Time now);
  /// True when that ended the running lease.
  bool revoke(uint64_t epoch);
  /// Ends the lease when its time is over; true when it did. Needs no tracker.
  bool expire(Time now);

  Admission admit(const LeaseToken& token, Time now) const;
  bool leased() const { return lease_.has_value(); }
  /// The running lease's epoch, 0 without one.
  uint64_t running_epoch() const { return lease_ ? lease_->token.epoch : 0; }
  uint64_t highest_epoch() const { return highest_; }
  /// Fills in what the device knows of its lease.
  void describe(DeviceReport& report, Time now) const;

 private:
  struct Lease {
    LeaseToken token;
    std::string holder;
    Time until;
  };
  uint64_t highest_ = 0;
  std::optional<Lease> lease_;
};

}  // namespace farm
