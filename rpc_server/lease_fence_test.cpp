#include "rpc_server/lease_fence.h"

#include "testing.h"

namespace farm {

using std::chrono::seconds;

TEST_CASE("a granted token is admitted until its lease ends by the device's own clock") {
  VirtualClock clock;
  LeaseFence fence;
  LeaseToken token{"b1", 5, 99};
  CHECK(fence.admit(token, clock.now()) == Admission::NotYet);
  REQUIRE(fence.grant(token, "alice", seconds(15), clock.now()));
  CHECK(fence.admit(token, clock.now()) == Admission::Yes);
  clock.advance(seconds(14));
  CHECK(fence.admit(token, clock.now()) == Admission::Yes);
  CHECK_FALSE(fence.expire(clock.now()));
  clock.advance(seconds(1));
  CHECK(fence.admit(token, clock.now()) == Admission::Stale);
  CHECK(fence.expire(clock.now()));
  CHECK_FALSE(fence.extend(5, seconds(15), clock.now()));
}

TEST_CASE("a wrong secret, an older epoch and another device's token are stale") {
  VirtualClock clock;
  LeaseFence fence;
  REQUIRE(fence.grant({"b1", 5, 99}, "alice", seconds(15), clock.now()));
  CHECK(fence.admit({"b1", 5, 98}, clock.now()) == Admission::Stale);
  CHECK(fence.admit({"b2", 5, 99}, clock.now()) == Admission::Stale);
  REQUIRE(fence.grant({"b1", 6, 1}, "bob", seconds(15), clock.now()));
  CHECK(fence.admit({"b1", 5, 99}, clock.now()) == Admission::Stale);
  CHECK_FALSE(fence.grant({"b1", 5, 99}, "alice", seconds(15), clock.now()));
  CHECK_FALSE(fence.grant({"b1", 6, 2}, "alice", seconds(15), clock.now()));
  CHECK(fence.running_epoch() == 6);
}

TEST_CASE("a revoked lease ends, and its grant is not taken when it comes late") {
  VirtualClock clock;
  LeaseFence fence;
  REQUIRE(fence.grant({"b1", 5, 99}, "alice", seconds(15), clock.now()));
  CHECK_FALSE(fence.revoke(4));
  CHECK(fence.revoke(5));
  CHECK_FALSE(fence.leased());
  CHECK_FALSE(fence.revoke(7));
  CHECK_FALSE(fence.grant({"b1", 7, 1}, "bob", seconds(15), clock.now()));
}

TEST_CASE("the report names the running lease and the highest epoch") {
  VirtualClock clock;
  LeaseFence fence;
  REQUIRE(fence.grant({"b1", 5, 99}, "alice", seconds(15), clock.now()));
  clock.advance(seconds(3));
  DeviceReport report;
  fence.describe(report, clock.now());
  CHECK(report.epoch == 5);
  CHECK(report.secret == 99);
  CHECK(report.holder == "alice");
  CHECK(report.left == seconds(12));
  fence.revoke(5);
  DeviceReport after;
  fence.describe(after, clock.now());
  CHECK(after.epoch == 5);
  CHECK(after.left == seconds(0));
}

}  // namespace farm
