// The device's side against a tracker and clients in one process, with a device that does what a test wants.
#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include "rpc_server/rpc_server.h"
#include "testing.h"
#include "tracker/tracker.h"

namespace farm {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Measures until it is let go or cancelled.
class FakeDevice final : public Device {
 public:
  const Target& target() const override { return target_; }
  Result<MeasureReply> measure(const MeasureRequest& request, const BlobSource& blobs) override {
    std::unique_lock lock(mutex_);
    cancelled_ = false;
    running = true;
    bool ended = changed_.wait_for(lock, seconds(30), [&] { return !hold_ || cancelled_; });
    running = false;
    if (cancelled_ || !ended) return fail(ErrorCode::Unavailable, "cancelled");
    MeasureReply reply;
    reply.measurements.resize(request.artifacts.size());
    reply.peak_gflops = static_cast<double>(blobs(request.inputs.expected).size());
    return reply;
  }
  void cancel() override {
    std::lock_guard lock(mutex_);
    cancelled_ = true;
    if (running) ++cancels;
    changed_.notify_all();
  }
  void hold(bool hold) {
    std::lock_guard lock(mutex_);
    hold_ = hold;
    changed_.notify_all();
  }
  std::atomic<bool> running = false;
  std::atomic<int> cancels = 0;

 private:
  Target target_{.isa = "x86-64-v3", .cpu = "znver3"};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool hold_ = false, cancelled_ = false;
};

// A tracker and a device on one loop in a thread of their own.
struct Farm {
  SteadyClock clock;
  FakeDevice device;
  std::unique_ptr<EventLoop> loop = EventLoop::create();
  std::unique_ptr<Tracker> tracker;
  std::unique_ptr<DeviceServer> server;
  std::thread thread;

  explicit Farm(milliseconds ttl = seconds(15)) {
    TrackerOptions tracker_options{.listen = {"127.0.0.1", 0}};
    tracker_options.table.ttl = ttl;
    tracker = std::move(*Tracker::start(*loop, clock, tracker_options));
    server = std::move(*DeviceServer::start(*loop, device, clock,
                                            {.tracker = tracker->address(), .key = "board", .max_blob_bytes = 1000}));
    std::promise<void> registered;
    bool once = false;
    server->on_registered([&] {
      if (!std::exchange(once, true)) registered.set_value();
    });
    thread = std::thread([this] { loop->run(); });
    REQUIRE(registered.get_future().wait_for(seconds(10)) == std::future_status::ready);
    on_loop([&] { server->on_registered([] {}); });
  }
  ~Farm() {
    loop->stop();
    thread.join();
    server.reset();
    tracker.reset();
  }
  void on_loop(const std::function<void()>& call) {
    std::promise<void> done;
    loop->post([&] {
      call();
      done.set_value();
    });
    done.get_future().wait();
  }
  std::unique_ptr<TrackerClient> client(const std::string& user = "test") const {
    return std::move(*TrackerClient::connect(tracker->address(), seconds(5), user));
  }
};

LeaseGrant lease(TrackerClient& client) {
  auto grant = client.lease("board", 0, seconds(5), {});
  REQUIRE(grant);
  return *grant;
}

std::unique_ptr<DeviceClient> session(const LeaseGrant& grant) {
  auto device = DeviceClient::connect(grant, seconds(5));
  INFO((device ? "" : device.error().message));
  REQUIRE(device);
  return std::move(*device);
}

MeasureRequest request_with(const std::vector<std::byte>& blob) {
  MeasureRequest request;
  request.artifacts.resize(3);
  request.inputs.expected = request.inputs.terms = hash_bytes(blob);
  return request;
}

// Waits for what another thread does soon; no assertion on how long it takes.
bool soon(const std::function<bool()>& condition) {
  for (int i = 0; i < 1000 && !condition(); ++i) std::this_thread::sleep_for(milliseconds(10));
  return condition();
}

}  // namespace

TEST_CASE("a leased device measures what it is sent, with the blobs that were put there") {
  Farm farm;
  auto client = farm.client();
  auto device = session(lease(*client));
  CHECK(device->target().text() == "x86-64-v3/znver3");
  std::vector<std::byte> blob(77);
  REQUIRE(device->put_blob(blob));
  REQUIRE(device->put_blob(blob));
  auto reply = device->measure(request_with(blob), {});
  REQUIRE(reply);
  CHECK(reply->measurements.size() == 3);
  CHECK(reply->peak_gflops == 77);
}

TEST_CASE("a blob that was not put or is too large is refused by name") {
  Farm farm;
  auto client = farm.client();
  auto device = session(lease(*client));
  auto reply = device->measure(request_with(std::vector<std::byte>(5)), {});
  REQUIRE_FALSE(reply);
  CHECK(reply.error().code == ErrorCode::NotFound);
  auto large = device->put_blob(std::vector<std::byte>(1001));
  REQUIRE_FALSE(large);
  CHECK(large.error().message == "blob of 1001 bytes; this device keeps at most 1000");
}

TEST_CASE("a forged, an ended and an unknown token are stale") {
  Farm farm;
  auto client = farm.client();
  LeaseGrant grant = lease(*client);
  LeaseGrant forged = grant;
  forged.token.secret ^= 1;
  auto refused = DeviceClient::connect(forged, seconds(5));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message ==
        "stale epoch " + std::to_string(grant.token.epoch) + " at device " + farm.server->id());
  forged = grant;
  forged.token.epoch += 10;
  CHECK_FALSE(DeviceClient::connect(forged, seconds(5)));
  REQUIRE(client->release(grant.token));
  CHECK_FALSE(DeviceClient::connect(grant, seconds(5)));
}

TEST_CASE("a released lease ends its session, and the next one finds none of its blobs") {
  Farm farm;
  auto client = farm.client();
  LeaseGrant first = lease(*client);
  auto device = session(first);
  std::vector<std::byte> blob(10);
  REQUIRE(device->put_blob(blob));
  REQUIRE(client->release(first.token));
  CHECK_FALSE(device->measure(request_with(blob), {}));
  auto next = session(lease(*client));
  auto reply = next->measure(request_with(blob), {});
  REQUIRE_FALSE(reply);
  CHECK(reply.error().code == ErrorCode::NotFound);
}

TEST_CASE("a lease that is not renewed ends at the device too, and so does what it measures") {
  Farm farm(milliseconds(600));
  auto client = farm.client();
  auto device = session(lease(*client));
  std::vector<std::byte> blob(10);
  REQUIRE(device->put_blob(blob));
  farm.device.hold(true);
  auto reply = device->measure(request_with(blob), {});
  REQUIRE_FALSE(reply);
  CHECK(reply.error().code == ErrorCode::Unavailable);
  CHECK(soon([&] { return !farm.device.running; }));
  CHECK(farm.device.cancels > 0);
}

TEST_CASE("a lease that is renewed while it measures goes on beyond its first end") {
  Farm farm(milliseconds(600));
  auto client = farm.client();
  LeaseGrant grant = lease(*client);
  auto device = session(grant);
  std::vector<std::byte> blob(10);
  REQUIRE(device->put_blob(blob));
  farm.device.hold(true);
  int calls = 0;
  auto reply = device->measure(request_with(blob), [&] {
    CHECK(client->renew(grant.token));
    if (++calls == 15) farm.device.hold(false);
    return true;
  });
  CHECK(reply);
}

TEST_CASE("a client that goes away frees the device in the middle of a measurement") {
  Farm farm;
  auto client = farm.client("one");
  auto device = session(lease(*client));
  std::vector<std::byte> blob(10);
  REQUIRE(device->put_blob(blob));
  farm.device.hold(true);
  auto cancelled = device->measure(request_with(blob), [&] { return !farm.device.running; });
  REQUIRE_FALSE(cancelled);
  CHECK(cancelled.error().code == ErrorCode::Interrupted);
  device.reset();
  client.reset();
  farm.device.hold(false);
  auto other = farm.client("two");
  auto next = session(lease(*other));
  REQUIRE(next->put_blob(blob));
  CHECK(next->measure(request_with(blob), {}));
}

TEST_CASE("a device that was reported bad comes back by itself once nothing runs there") {
  Farm farm;
  auto client = farm.client();
  LeaseGrant grant = lease(*client);
  REQUIRE(client->report_bad(grant.token, "looked at me in a funny way"));
  LeaseGrant next = lease(*client);
  CHECK(next.token.epoch > grant.token.epoch);
  CHECK(session(next)->device_id() == farm.server->id());
}

TEST_CASE("a request that is cancelled costs neither the place of others nor the client's other lease") {
  Farm farm;
  auto client = farm.client();
  LeaseGrant grant = lease(*client);
  int looks = 0;
  auto second = client->lease("board", 0, seconds(5), [&](const QueuePosition& position) {
    CHECK(position.connected);
    CHECK(position.position == 1);
    CHECK(position.devices == 1);
    return ++looks < 2;
  });
  REQUIRE_FALSE(second);
  CHECK(second.error().code == ErrorCode::Interrupted);
  CHECK(client->renew(grant.token));
  CHECK(client->status()->queue.at(0).waiting == 0);
  REQUIRE(client->release(grant.token));
  CHECK(client->status()->devices.at(0).state == "free");
}

TEST_CASE("the newest connection with the token has the session") {
  Farm farm;
  auto client = farm.client();
  LeaseGrant grant = lease(*client);
  auto first = session(grant);
  auto second = session(grant);
  CHECK_FALSE(first->put_blob(std::vector<std::byte>(3)));
  CHECK(second->put_blob(std::vector<std::byte>(3)));
}

}  // namespace farm
