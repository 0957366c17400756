// The real programs on loopback, and what happens to the others when one is killed, freezes or lies.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "apps/child_program.h"
#include "rpc/messages.h"
#include "runtime/cpu/test_kernels.h"
#include "testing.h"

namespace farm {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Waits for what another process does soon; no assertion on how long it takes.
bool soon(const std::function<bool()>& condition) {
  for (int i = 0; i < 2000 && !condition(); ++i) std::this_thread::sleep_for(milliseconds(10));
  return condition();
}

struct RealFarm {
  Address address{"127.0.0.1", 0};
  std::optional<ChildProgram> tracker;
  std::vector<ChildProgram> servers;

  explicit RealFarm(int devices = 1) {
    start_tracker();
    for (int i = 0; i < devices; ++i) start_server("b" + std::to_string(i));
  }
  void start_tracker() {
    auto started = ChildProgram::start(
        {.program = FARM_PROGRAMS "/tracker", .args = {"--port", std::to_string(address.port), "--log", "error"}});
    INFO((started ? "" : started.error().message));
    REQUIRE(started);
    tracker = std::move(*started);
    address.port = tracker->port();
  }
  void start_server(const std::string& id, const std::string& key = "board") {
    auto started =
        ChildProgram::start({.program = FARM_PROGRAMS "/rpc_server",
                             .args = {"--tracker", address.text(), "--key", key, "--id", id, "--log", "error"}});
    INFO((started ? "" : started.error().message));
    REQUIRE(started);
    servers.push_back(std::move(*started));
    REQUIRE(soon([&] { return state(id) == "free"; }));
  }
  std::unique_ptr<TrackerClient> client(const std::string& user) const {
    auto client = TrackerClient::connect(address, seconds(5), user);
    REQUIRE(client);
    return std::move(*client);
  }
  TrackerStatus status() const {
    auto client = TrackerClient::connect(address, seconds(5), "status");
    if (!client) return {};
    return (*client)->status().value_or(TrackerStatus{});
  }
  std::string state(const std::string& id) const {
    for (const DeviceInfo& device : status().devices) {
      if (device.id == id) return device.state;
    }
    return "unknown";
  }
  int waiting() const {
    int waiting = 0;
    for (const QueueInfo& queue : status().queue) waiting += queue.waiting;
    return waiting;
  }
};

LeaseGrant lease(TrackerClient& client, const std::string& key = "board") {
  auto grant = client.lease(key, 0, seconds(10), {});
  INFO((grant ? "" : grant.error().message));
  REQUIRE(grant);
  return *grant;
}

// A client in a thread of its own that waits for a lease.
struct Waiting {
  std::unique_ptr<TrackerClient> client;
  std::optional<Result<LeaseGrant>> grant;
  std::atomic<bool> done = false;
  std::thread thread;

  Waiting(const RealFarm& farm, const std::string& user, int priority = 0) : client(farm.client(user)) {
    thread = std::thread([this, priority] {
      grant = client->lease("board", priority, seconds(20), {});
      done = true;
    });
  }
  ~Waiting() { thread.join(); }
};

Result<Measurement> measure(DeviceClient& device, const std::string& kernel,
                            const std::function<bool()>& while_waiting = {}) {
  TestTask task;
  FARM_CHECK(device.put_blob(std::as_bytes(std::span(task.expected))));
  FARM_CHECK(device.put_blob(std::as_bytes(std::span(task.terms))));
  MeasureRequest request = task.request({test_artifact(kernel)});
  request.policy.timeout = seconds(60);
  FARM_TRY(auto reply, device.measure(request, while_waiting));
  return reply.measurements.at(0);
}

void check_that_it_measures(const LeaseGrant& grant) {
  auto device = DeviceClient::connect(grant, seconds(10));
  INFO((device ? "" : device.error().message));
  REQUIRE(device);
  auto measurement = measure(**device, "good_run");
  INFO((measurement ? measurement->detail : measurement.error().message));
  REQUIRE(measurement);
  CHECK(measurement->outcome == Outcome::Ok);
  CHECK(measurement->latency_ns > 0);
}

// A raw connection that says whatever a test wants.
struct Raw {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  explicit Raw(uint16_t port) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0);
  }
  ~Raw() { close(fd); }
  void say(std::span<const std::byte> bytes) const { CHECK(::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) > 0); }
  bool hear(const std::string& wanted) const { return hear_until(wanted).find(wanted) != std::string::npos; }
  std::string hear_to_the_end() const { return hear_until({}); }

 private:
  // All that was said until the wanted words came or the connection ended.
  std::string hear_until(const std::optional<std::string>& wanted) const {
    std::string heard;
    char text[512];
    pollfd entry{fd, POLLIN, 0};
    while (poll(&entry, 1, 10'000) > 0) {
      ssize_t got = recv(fd, text, sizeof text, 0);
      if (got <= 0) return heard;
      heard.append(text, static_cast<size_t>(got));
      if (wanted && heard.find(*wanted) != std::string::npos) return heard;
    }
    return "(still open)";
  }
};

std::vector<std::byte> header(uint16_t version, MessageType type, uint32_t length) {
  ByteWriter out;
  out.u32(kMagic);
  out.u16(version);
  out.u16(static_cast<uint16_t>(type));
  out.u32(length);
  return out.take();
}

std::vector<pid_t> children_of(pid_t pid) {
  std::string id = std::to_string(pid);
  std::vector<pid_t> children;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/" + id + "/task")) {
    std::ifstream file(thread.path() / "children");
    for (pid_t child; file >> child;) children.push_back(child);
  }
  return children;
}

bool alive(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  return std::getline(file, line) && line.find(") Z") == std::string::npos;
}

}  // namespace

TEST_CASE("a client measures a kernel on a device that it found through the tracker") {
  RealFarm farm;
  auto client = farm.client("alice");
  LeaseGrant grant = lease(*client);
  check_that_it_measures(grant);
  TrackerStatus status = farm.status();
  CHECK(status.devices.at(0).state == "leased");
  CHECK(status.devices.at(0).holder == "alice");
  CHECK(status.devices.at(0).target.peak_gflops_core > 0);
  CHECK(status.leases.at(0).epoch == grant.token.epoch);
  REQUIRE(client->release(grant.token));
  CHECK(farm.state("b0") == "free");
}

TEST_CASE("a crashing kernel is one measurement, not the end of the device") {
  RealFarm farm;
  auto client = farm.client("alice");
  LeaseGrant grant = lease(*client);
  auto device = DeviceClient::connect(grant, seconds(10));
  REQUIRE(device);
  auto crash = measure(**device, "trap_run");
  REQUIRE(crash);
  CHECK(crash->outcome == Outcome::Crashed);
  auto good = measure(**device, "good_run");
  REQUIRE(good);
  CHECK(good->outcome == Outcome::Ok);
}

TEST_CASE("when a server is killed, the status says so and those who wait get another device") {
  RealFarm farm(2);
  auto alice = farm.client("alice"), bob = farm.client("bob");
  LeaseGrant first = lease(*alice), second = lease(*bob);
  Waiting carol(farm, "carol");
  REQUIRE(soon([&] { return farm.waiting() == 1; }));
  size_t victim = first.token.device_id == "b0" ? 0 : 1;
  farm.servers[victim].kill();
  REQUIRE(soon([&] { return farm.state(first.token.device_id) == "lost"; }));
  CHECK(farm.state(second.token.device_id) == "leased");
  CHECK_FALSE(DeviceClient::connect(first, seconds(5)));
  REQUIRE(bob->release(second.token));
  REQUIRE(soon([&] { return carol.done.load(); }));
  REQUIRE(*carol.grant);
  CHECK((*carol.grant)->token.device_id == second.token.device_id);
  check_that_it_measures(**carol.grant);
}

TEST_CASE("when the tracker is killed, sessions go on, and devices and waiting clients come back to the next one") {
  RealFarm farm(2);
  auto alice = farm.client("alice"), bob = farm.client("bob");
  LeaseGrant first = lease(*alice), second = lease(*bob);
  Waiting carol(farm, "carol");
  REQUIRE(soon([&] { return farm.waiting() == 1; }));
  auto device = DeviceClient::connect(first, seconds(10));
  REQUIRE(device);
  farm.tracker->kill();
  CHECK(measure(**device, "good_run"));
  farm.start_tracker();
  REQUIRE(soon([&] { return farm.state("b0") == "leased" && farm.state("b1") == "leased"; }));
  CHECK(measure(**device, "good_run"));
  CHECK(alice->renew(first.token));
  for (const DeviceInfo& info : farm.status().devices) CHECK((info.holder == "alice" || info.holder == "bob"));
  REQUIRE(bob->release(second.token));
  REQUIRE(soon([&] { return carol.done.load(); }));
  REQUIRE(*carol.grant);
  CHECK((*carol.grant)->token.epoch > second.token.epoch);
  check_that_it_measures(**carol.grant);
}

TEST_CASE("a client that is killed in the middle of a measurement frees its device") {
  RealFarm farm;
  int pipe_ends[2];
  REQUIRE(pipe(pipe_ends) == 0);
  pid_t victim = fork();
  if (victim == 0) {
    auto client = TrackerClient::connect(farm.address, seconds(5), "victim");
    auto grant = (*client)->lease("board", 0, seconds(5), {});
    auto device = DeviceClient::connect(*grant, seconds(5));
    bool told = false;
    (void)measure(**device, "hang_run", [&] {
      if (!std::exchange(told, true) && write(pipe_ends[1], "x", 1) != 1) _exit(1);
      return true;
    });
    _exit(0);
  }
  char byte;
  REQUIRE(read(pipe_ends[0], &byte, 1) == 1);
  CHECK(farm.state("b0") == "leased");
  kill(victim, SIGKILL);
  waitpid(victim, nullptr, 0);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
  auto client = farm.client("next");
  check_that_it_measures(lease(*client));
}

TEST_CASE("of two that wait, the higher priority is served first") {
  RealFarm farm;
  auto alice = farm.client("alice");
  LeaseGrant grant = lease(*alice);
  Waiting patient(farm, "patient", 0);
  REQUIRE(soon([&] { return farm.waiting() == 1; }));
  Waiting urgent(farm, "urgent", 5);
  REQUIRE(soon([&] { return farm.waiting() == 2; }));
  REQUIRE(alice->release(grant.token));
  REQUIRE(soon([&] { return urgent.done.load(); }));
  REQUIRE(*urgent.grant);
  CHECK_FALSE(patient.done);
  CHECK(urgent.client->release((*urgent.grant)->token));
  REQUIRE(soon([&] { return patient.done.load(); }));
  CHECK(*patient.grant);
}

TEST_CASE("a key that nobody serves is refused with those that exist") {
  RealFarm farm;
  auto grant = farm.client("alice")->lease("baord", 0, milliseconds(0), {});
  REQUIRE_FALSE(grant);
  CHECK(grant.error() ==
        Error{ErrorCode::NotFound, "no device is registered under 'baord' (did you mean board?); registered: board"});
}

TEST_CASE("a key with a blank or an escape is refused on the wire, from clients and from devices") {
  RealFarm farm(0);
  Raw client(farm.address.port), device(farm.address.port);
  client.say(to_frame(HelloMessage{Role::Client, "raw"}));
  client.say(to_frame(LeaseRequestMessage{1, "a b", 0, 0}));
  CHECK(client.hear("device key is 'a b'; letters, digits and ._-+:@/ are allowed, 1 to 48 of them"));
  DeviceReport report{.id = "raw", .key = "a\x1b[2J", .address = {"127.0.0.1", 1}};
  device.say(to_frame(HelloMessage{Role::Device, "raw"}));
  device.say(to_frame(RegisterMessage{report}));
  CHECK(device.hear("device key is 'a\\x1b[2J'; letters"));
  CHECK(farm.status().devices.empty());
}

TEST_CASE("a silent connection holds up neither tracker nor device") {
  RealFarm farm;
  Raw at_tracker(farm.address.port), at_device(farm.servers[0].port());
  auto client = farm.client("alice");
  check_that_it_measures(lease(*client));
}

TEST_CASE("a silent connection is closed after a while", "[slow]") {
  RealFarm farm;
  Raw at_tracker(farm.address.port), at_device(farm.servers[0].port());
  CHECK(at_tracker.hear_to_the_end().empty());
  CHECK(at_device.hear_to_the_end().empty());
}

TEST_CASE("a forged length, a wrong version and another protocol are refused by name at once") {
  RealFarm farm;
  for (uint16_t port : {farm.address.port, farm.servers[0].port()}) {
    Raw length(port), version(port), http(port);
    length.say(header(kProtocolVersion, MessageType::PutBlob, 0xffffffff));
    CHECK(length.hear_to_the_end().find("PutBlob of 4294967295 bytes; at most 4096 are taken") != std::string::npos);
    version.say(header(7, MessageType::Hello, 0));
    CHECK(version.hear_to_the_end().find("protocol version 7 is not spoken here; this is version 2") !=
          std::string::npos);
    std::string request = "GET / HTTP/1.1\r\n\r\n";
    http.say(std::as_bytes(std::span(request)));
    CHECK(http.hear_to_the_end().find("does not speak the farm's protocol") != std::string::npos);
  }
  auto client = farm.client("alice");
  check_that_it_measures(lease(*client));
}

TEST_CASE("a server that is told to end leaves no process and no device behind") {
  RealFarm farm;
  std::vector<pid_t> family = children_of(farm.servers[0].pid());
  CHECK_FALSE(family.empty());
  CHECK(farm.servers[0].stop() == 0);
  CHECK(soon([&] { return farm.state("b0") == "unknown"; }));
  for (pid_t pid : family) CHECK(soon([&] { return !alive(pid); }));
  CHECK(farm.tracker->stop() == 0);
}

TEST_CASE("a server looks for its tracker until there is one") {
  RealFarm farm(0);
  farm.tracker->kill();
  auto server = ChildProgram::start(
      {.program = FARM_PROGRAMS "/rpc_server",
       .args = {"--tracker", farm.address.text(), "--key", "board", "--id", "early", "--log", "error"}});
  REQUIRE(server);
  farm.start_tracker();
  CHECK(soon([&] { return farm.state("early") == "free"; }));
}

TEST_CASE("a client that froze beyond its lease is stale when it wakes", "[slow]") {
  RealFarm farm;
  auto frozen = farm.client("frozen");
  LeaseGrant grant = lease(*frozen);
  auto session = DeviceClient::connect(grant, seconds(10));
  REQUIRE(session);
  Waiting next(farm, "next");  // "frozen" renews nothing from here on
  REQUIRE(soon([&] { return next.done.load(); }));
  REQUIRE(*next.grant);
  check_that_it_measures(**next.grant);
  CHECK_FALSE(measure(**session, "good_run"));
  auto again = DeviceClient::connect(grant, seconds(10));
  REQUIRE_FALSE(again);
  CHECK(again.error().message == "stale epoch " + std::to_string(grant.token.epoch) + " at device b0");
  CHECK_FALSE(frozen->renew(grant.token));
}

}  // namespace farm
