#include "tracker/lease_table.h"

#include "testing.h"

namespace farm {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr PeerId kDevicePeer = 100, kAlice = 1, kBob = 2, kCarol = 3;

// A table in virtual time and the events of its last step.
struct Table {
  VirtualClock clock;
  uint64_t secrets = 1000;
  LeaseTable table;
  std::vector<TableEvent> events;

  explicit Table(LeaseTableOptions options = {}) : table(options, [this] { return ++secrets; }) {}

  static DeviceReport report(const std::string& id, const std::string& key = "board") {
    DeviceReport report;
    report.id = id;
    report.key = key;
    report.instance = 7;
    report.address = {"10.0.0.1", 4000};
    return report;
  }
  Status device(PeerId peer, const DeviceReport& report) {
    Status status = table.register_device(peer, report, clock.now());
    events = table.take_events();
    return status;
  }
  Status ask(PeerId client, uint32_t request, int priority = 0, const std::string& key = "board",
             milliseconds wait = seconds(10)) {
    LeaseWish wish{request, key, "user" + std::to_string(client), priority, wait};
    Status status = table.request(client, wish, clock.now());
    events = table.take_events();
    return status;
  }
  // Devices keep talking, so that only what is under test runs out.
  void pass(milliseconds time, std::vector<PeerId> alive = {kDevicePeer}) {
    events.clear();
    for (milliseconds step{500}; time.count() > 0; time -= step) {
      clock.advance(std::min(step, time));
      for (PeerId peer : alive) table.heartbeat(peer, clock.now());
      table.tick(clock.now());
      auto step_events = table.take_events();
      events.insert(events.end(), step_events.begin(), step_events.end());
    }
  }
  template <class Event>
  std::vector<Event> all() const {
    std::vector<Event> found;
    for (const auto& event : events) {
      if (auto* one = std::get_if<Event>(&event)) found.push_back(*one);
    }
    return found;
  }
  std::string state(const std::string& id) const {
    for (const auto& device : table.status(clock.now()).devices) {
      if (device.id == id) return device.state;
    }
    return "unknown";
  }
  LeaseToken granted_token() const { return all<GrantToClient>().at(0).grant.token; }
};

}  // namespace

TEST_CASE("a free device is granted at once, and the device hears of it before the client") {
  Table t;
  REQUIRE(t.device(kDevicePeer, Table::report("b1")));
  REQUIRE(t.ask(kAlice, 1));
  REQUIRE(t.events.size() == 2);
  auto to_device = std::get<GrantToDevice>(t.events[0]);
  auto to_client = std::get<GrantToClient>(t.events[1]);
  CHECK(to_device.device == kDevicePeer);
  CHECK(to_device.token == to_client.grant.token);
  CHECK(to_device.holder == "user1");
  CHECK(to_client.client == kAlice);
  CHECK(to_client.grant.device == Address{"10.0.0.1", 4000});
  CHECK(t.state("b1") == "leased");
}

TEST_CASE("a lease that is not renewed returns the device to the queue") {
  Table t;
  REQUIRE(t.device(kDevicePeer, Table::report("b1")));
  REQUIRE(t.ask(kAlice, 1));
  LeaseToken first = t.granted_token();
  REQUIRE(t.ask(kBob, 1));
  t.pass(milliseconds(14'500));
  CHECK(t.all<GrantToClient>().empty());
  t.pass(milliseconds(1'000));
  REQUIRE(t.all<GrantToClient>().size() == 1);
  CHECK(t.all<RevokeAtDevice>().at(0).epoch == first.epoch);
  CHECK(t.granted_token().epoch > first.epoch);
  CHECK(t.granted_token().secret != first.secret);
  Status late = t.table.renew(kAlice, first, t.clock.now());
  REQUIRE_FALSE(late);
  CHECK(late.error().code == ErrorCode::Unavailable);
  CHECK(late.error().message == "the lease of b1 has ended (stale epoch " + std::to_string(first.epoch) + ")");
}

TEST_CASE("a lease that is renewed stays with its client") {
  Table t;
  REQUIRE(t.device(kDevicePeer, Table::report("b1")));
  REQUIRE(t.ask(kAlice, 1));
  LeaseToken token = t.granted_token();
  REQUIRE(t.ask(kBob, 1));
  for (int i = 0; i < 20; ++i) {
    t.pass(milliseconds(5'000));
    CHECK(t.all<GrantToClient>().empty());
    REQUIRE(t.table.renew(kAlice, token, t.clock.now()));
    t.events = t.table.take_events();
    CHECK(t.all<ExtendAtDevice>().at(0).epoch == token.epoch);
  }
  REQUIRE(t.table.release(kAlice, token, t.clock.now()));
  t.events = t.table.take_events();
  CHECK(t.all<GrantToClient>().at(0).client == kBob);
}

TEST_CASE("priority goes before age, and age decides between equals") {
  Table t;
  REQUIRE(t.device(kDevicePeer, Table::report("b1")));
  REQUIRE(t.ask(kAlice, 1));
  LeaseToken token = t.granted_token();
  REQUIRE(t.ask(kBob, 1, 0));
  CHECK(t.all<TellPosition>().at(0).position.position == 1);
  REQUIRE(t.ask(kCarol, 1, 5));
  CHECK(t.all<TellPosition>().at(0).position.position == 1);
  REQUIRE(t.ask(kCarol, 2, 0));
  CHECK(t.all<TellPosition>().at(0).position.position == 3);
  std::vector<std::pair<PeerId, uint32_t>> order;
  for (int i = 0; i < 3; ++i) {
    REQUIRE(t.table.release(kAlice, token, t.clock.now()));
    t.events = t.table.take_events();
    auto grant = t.all<GrantToClient>().at(0);
    order.emplace_back(grant.client, grant.request);
    token = grant.grant.token;
  }
  CHECK(order == std::vector<std::pair<PeerId, uint32_t>>{{kCarol, 1}, {kBob, 1}, {kCarol, 2}});
}

TEST_CASE("a request for an unknown key waits, is then refused with the keys that exist") {
  Table t;
  REQUIRE(t.device(kDevicePeer, Table::report("b1", "rk3399")));
  REQUIRE(t.ask(kAlice, 1, 0, "rk339", seconds(10)));
  CHECK(t.all<TellPosition>().at(0).position.devices == 0);
  t.pass(milliseconds(9'500));
  CHECK(t.all<RefuseRequest>().empty());
  t.pass(milliseconds(1'000));
  REQUIRE(t.all<RefuseRequest>().size() == 1);
  CHECK(t.all<RefuseRequest>()[0].error ==
        Error{ErrorCode::NotFound, "no device is registered under 'rk339' (did you mean rk3399?); registered: rk3399"});
}

TEST_CASE("a request for an unknown key is served when such a device registers in time") {
  Table t;
  REQUIRE(t.ask(kAlice, 1, 0, "board", seconds(10)));
  t.pass(milliseconds(5'000));
  REQUIRE(t.device(kDevicePeer, Table::report("b1")));
  CHECK(t.all<GrantToClient>().at(0).client == kAlice);
  REQUIRE(t.ask(kBob, 1, 0, "other", seconds(0)));
  CHECK(t.all<RefuseRequest>().size() == 1);
}

TEST_CASE("a busy key is waited for without limit, and the client is told where it stands about once a second") {
  Table t;
  REQUIRE(t.device(kDevicePeer, Table::report("b1")));
  REQUIRE(t.ask(kAlice, 1));
  LeaseToken token = t.granted_token();
  REQUIRE(t.ask(kBob, 1, 0, "board", seconds(1)));
  for (int i = 0; i < 12; ++i) {
    REQUIRE(t.table.renew(kAlice, token, t.clock.now()));
    t.table.take_events();
    t.pass(milliseconds(10'000));
    CHECK(t.all<RefuseRequest>().empty());
    CHECK(t.all<TellPosition>().size() == 10);
  }
}

TEST_CASE("a client that disconnects loses its leases and its places") {
  Table t;
  REQUIRE(t.device(kDevicePeer, Table::report("b1")));
  REQUIRE(t.ask(kAlice, 1));
  LeaseToken token = t.granted_token();
  REQUIRE(t.ask(kAlice, 2));
  REQUIRE(t.ask(kBob, 1));
  t.table.peer_gone(kAlice, t.clock.now());
  t.events = t.table.take_events();
  CHECK(t.all<RevokeAtDevice>().at(0).epoch == token.epoch);
  REQUIRE(t.all<GrantToClient>().size() == 1);
  CHECK(t.all<GrantToClient>()[0].client == kBob);
  CHECK(t.table.status(t.clock.now()).queue.at(0).waiting == 0);
}

TEST_CASE("a device whose connection closes is lost at once and keeps its lease for its return") {
  Table t;
  REQUIRE(t.device(kDevicePeer, Table::report("b1")));
  REQUIRE(t.ask(kAlice, 1));
  LeaseToken token = t.granted_token();
  t.table.peer_gone(kDevicePeer, t.clock.now());
  CHECK(t.state("b1") == "lost");
  t.clock.advance(seconds(3));
  CHECK(t.table.renew(kAlice, token, t.clock.now()));
  DeviceReport back = Table::report("b1");
  back.epoch = token.epoch;
  back.secret = token.secret;
  back.left = seconds(10);
  REQUIRE(t.device(kDevicePeer + 1, back));
  CHECK(t.state("b1") == "leased");
  CHECK(t.table.renew(kAlice, token, t.clock.now()));
}

TEST_CASE("a device that stays away loses its lease, and others are served") {
  Table t;
  REQUIRE(t.device(kDevicePeer, Table::report("b1")));
  REQUIRE(t.ask(kAlice, 1));
  LeaseToken token = t.granted_token();
  REQUIRE(t.device(kDevicePeer + 1, Table::report("b2")));
  t.table.peer_gone(kDevicePeer, t.clock.now());
  REQUIRE(t.ask(kBob, 1));
  CHECK(t.granted_token().device_id == "b2");
  t.pass(milliseconds(15'500), {kDevicePeer + 1});
  CHECK_FALSE(t.table.renew(kAlice, token, t.clock.now()));
  CHECK(t.state("b1") == "lost");
  t.pass(milliseconds(600'000), {kDevicePeer + 1});
  CHECK(t.state("b1") == "unknown");
}

TEST_CASE("a silent device is lost after 15 s, a talking one is not") {
  Table t;
  REQUIRE(t.device(kDevicePeer, Table::report("b1")));
  REQUIRE(t.device(kDevicePeer + 1, Table::report("b2")));
  t.pass(milliseconds(15'000), {kDevicePeer});
  CHECK(t.state("b1") == "free");
  CHECK(t.state("b2") == "lost");
  CHECK(t.all<DropPeer>().at(0).peer == kDevicePeer + 1);
}

TEST_CASE("a device reported bad is set aside until it checks in") {
  Table t;
  REQUIRE(t.device(kDevicePeer, Table::report("b1")));
  REQUIRE(t.ask(kAlice, 1));
  REQUIRE(t.table.report_bad(kAlice, t.granted_token(), t.clock.now()));
  t.events = t.table.take_events();
  CHECK(t.all<RevokeAtDevice>().at(0).check_in);
  CHECK(t.state("b1") == "set aside");
  REQUIRE(t.ask(kBob, 1));
  CHECK(t.all<GrantToClient>().empty());
  t.pass(milliseconds(2'000));
  CHECK(t.all<GrantToClient>().empty());
  t.table.check_in(kDevicePeer, t.clock.now());
  t.events = t.table.take_events();
  CHECK(t.all<GrantToClient>().at(0).client == kBob);
}

TEST_CASE("a restarted tracker adopts the lease that a device reports, and the client goes on with its token") {
  Table t(LeaseTableOptions{.first_epoch = 5});
  DeviceReport report = Table::report("b1");
  report.epoch = 900;
  report.secret = 77;
  report.holder = "alice";
  report.left = seconds(8);
  REQUIRE(t.device(kDevicePeer, report));
  CHECK(t.state("b1") == "leased");
  REQUIRE(t.ask(kBob, 1));
  CHECK(t.all<GrantToClient>().empty());
  CHECK_FALSE(t.table.renew(kAlice, {"b1", 900, 78}, t.clock.now()));
  REQUIRE(t.table.renew(kAlice, {"b1", 900, 77}, t.clock.now()));
  t.table.take_events();
  t.pass(milliseconds(14'000));
  CHECK(t.all<GrantToClient>().empty());
  t.table.peer_gone(kAlice, t.clock.now());
  t.events = t.table.take_events();
  CHECK(t.granted_token().epoch > 900);
}

TEST_CASE("a grant that did not reach the device is sent again when it comes back") {
  Table t;
  REQUIRE(t.device(kDevicePeer, Table::report("b1")));
  REQUIRE(t.ask(kAlice, 1));
  LeaseToken token = t.granted_token();
  t.table.peer_gone(kDevicePeer, t.clock.now());
  t.clock.advance(seconds(2));
  REQUIRE(t.device(kDevicePeer + 1, Table::report("b1")));
  REQUIRE(t.all<GrantToDevice>().size() == 1);
  CHECK(t.all<GrantToDevice>()[0].token == token);
  CHECK(t.all<GrantToDevice>()[0].ttl == seconds(13));
}

TEST_CASE("a CPU cannot stand in the queue of a known board of another family of ISAs") {
  Table t;
  DeviceReport report = Table::report("b1", "rk3399");
  report.target = *target_from_name("znver3");
  Status refused = t.device(kDevicePeer, report);
  REQUIRE_FALSE(refused);
  CHECK(
      refused.error().message ==
      "device key rk3399 means a known board of aarch64, and this device is x86-64-v3/znver3; choose another key such "
      "as my-rk3399");
  CHECK(t.state("b1") == "unknown");
  report.target = *target_from_name("cortex-a72+emulated");
  CHECK(t.device(kDevicePeer, report));
}

TEST_CASE("two servers cannot have one id, the same server may come back before its old connection ends") {
  Table t;
  REQUIRE(t.device(kDevicePeer, Table::report("b1")));
  DeviceReport other = Table::report("b1");
  other.instance = 8;
  Status refused = t.device(kDevicePeer + 1, other);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "device id b1 is taken by another server; give this one another --id");
  REQUIRE(t.device(kDevicePeer + 2, Table::report("b1")));
  CHECK(t.all<DropPeer>().at(0).peer == kDevicePeer);
  t.table.peer_gone(kDevicePeer, t.clock.now());
  CHECK(t.state("b1") == "free");
}

TEST_CASE("names and queues are bounded") {
  Table t(LeaseTableOptions{.max_devices = 1, .max_waiting = 3, .max_waiting_per_peer = 2});
  CHECK_FALSE(t.device(kDevicePeer, Table::report(std::string(129, 'x'))));
  CHECK_FALSE(t.device(kDevicePeer, Table::report("a\nb")));
  CHECK_FALSE(t.device(kDevicePeer, Table::report("")));
  DeviceReport blank = Table::report("b1");
  blank.key = "a b";
  CHECK_FALSE(t.device(kDevicePeer, blank));
  REQUIRE(t.device(kDevicePeer, Table::report("b1")));
  CHECK_FALSE(t.device(kDevicePeer + 1, Table::report("b2")));
  CHECK_FALSE(t.ask(kAlice, 1, 0, std::string(49, 'x')));
  CHECK_FALSE(t.ask(kAlice, 1, 0, "a b"));
  REQUIRE(t.ask(kAlice, 1));
  REQUIRE(t.ask(kAlice, 2));
  CHECK_FALSE(t.ask(kAlice, 2));
  REQUIRE(t.ask(kAlice, 3));
  CHECK_FALSE(t.ask(kAlice, 4));
  REQUIRE(t.ask(kBob, 1));
  CHECK_FALSE(t.ask(kBob, 2));
}

TEST_CASE("a cancelled request is not granted") {
  Table t;
  REQUIRE(t.ask(kAlice, 1));
  t.table.cancel(kAlice, 1);
  t.table.cancel(kAlice, 99);
  REQUIRE(t.device(kDevicePeer, Table::report("b1")));
  CHECK(t.all<GrantToClient>().empty());
  CHECK(t.state("b1") == "free");
}

TEST_CASE("a device that leaves on purpose is no longer listed, and its lease ends") {
  Table t;
  REQUIRE(t.device(kDevicePeer, Table::report("b1")));
  REQUIRE(t.ask(kAlice, 1));
  LeaseToken token = t.granted_token();
  t.table.unregister(kDevicePeer, t.clock.now());
  CHECK(t.state("b1") == "unknown");
  CHECK(t.table.status(t.clock.now()).leases.empty());
  CHECK_FALSE(t.table.renew(kAlice, token, t.clock.now()));
  t.table.peer_gone(kDevicePeer, t.clock.now());
  t.table.peer_gone(kAlice, t.clock.now());
}

}  // namespace farm
