#include "rpc_server/lease_fence.h"

#include <algorithm>

namespace farm {

using std::chrono::milliseconds;

bool LeaseFence::grant(const LeaseToken& token, const std::string& holder, milliseconds ttl, Time now) {
  if (token.epoch <= highest_) return false;
  highest_ = token.epoch;
  lease_ = Lease{token, holder, now + ttl};
  return true;
}

bool LeaseFence::extend(uint64_t epoch, milliseconds ttl, Time now) {
  if (!lease_ || lease_->token.epoch != epoch || lease_->until <= now) return false;
  lease_->until = now + ttl;
  return true;
}

bool LeaseFence::revoke(uint64_t epoch) {
  // A revoked grant that never came must not come later either.
  highest_ = std::max(highest_, epoch);
  if (!lease_ || lease_->token.epoch > epoch) return false;
  lease_.reset();
  return true;
}

bool LeaseFence::expire(Time now) {
  if (!lease_ || lease_->until > now) return false;
  lease_.reset();
  return true;
}

Admission LeaseFence::admit(const LeaseToken& token, Time now) const {
  if (token.epoch > highest_) return Admission::NotYet;
  return lease_ && lease_->until > now && lease_->token == token ? Admission::Yes : Admission::Stale;
}

void LeaseFence::describe(DeviceReport& report, Time now) const {
  report.epoch = highest_;
  if (!lease_ || lease_->until <= now) return;
  report.secret = lease_->token.secret;
  report.holder = lease_->holder;
  report.left = std::chrono::ceil<milliseconds>(lease_->until - now);
}

}  // namespace farm
