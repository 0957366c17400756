// Request to grant at the tracker: one client on an idle farm, then 100 clients on 1,000 registered devices.
//
// The real tracker runs as a child; devices and clients are real connections of this process. A lease is timed from the
// request to the grant on an established connection, released at once and asked for again.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "apps/child_program.h"
#include "apps/cli.h"
#include "rpc/event_loop.h"
#include "rpc/messages.h"

namespace farm {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  int devices = 1000, clients = 100, leases = 5000, leases_per_client = 100;
  bool json = false;
};

// Registrations without a device behind them, each a connection of its own, with heartbeats.
class Devices {
 public:
  Devices(const Address& tracker, const std::string& key, int count) : key_(key) {
    for (int i = 0; i < count; ++i) connect(tracker, i);
    beat_for_ever();
    thread_ = std::thread([this] { loop_->run(); });
  }
  ~Devices() {
    loop_->stop();
    thread_.join();
  }
  int registered() const { return registered_; }
  int errors() const { return errors_; }

 private:
  void connect(const Address& tracker, int number) {
    ConnectionHandlers handlers;
    handlers.opened = [this, number](ConnectionId id, Role, const std::string&, const std::string&) -> Status {
      connections_.push_back(id);
      loop_->send_message(id, RegisterMessage{report(number)});
      return {};
    };
    handlers.frame = [this](ConnectionId, const Frame& frame) {
      if (frame.type != MessageType::Answer) return;
      auto answer = open_frame<AnswerMessage>(frame);
      ++(answer && answer->ok ? registered_ : errors_);
    };
    handlers.closed = [this](ConnectionId, const Error&) { ++errors_; };
    loop_->connect(tracker, Role::Device, "bench", std::chrono::seconds(30), std::move(handlers));
  }

  DeviceReport report(int number) const {
    DeviceReport report;
    report.id = key_ + "-" + std::to_string(number);
    report.key = key_;
    report.address = {"127.0.0.1", 9};
    report.target.isa = report.target.cpu = "x86-64-v3";
    report.target.features = {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "sse4.2"};
    return report;
  }

  void beat_for_ever() {
    loop_->after(std::chrono::seconds(5), [this] {
      for (ConnectionId id : connections_) loop_->send_message(id, HeartbeatMessage{});
      beat_for_ever();
    });
  }

  std::string key_;
  std::unique_ptr<EventLoop> loop_ = EventLoop::create();
  std::vector<ConnectionId> connections_;
  std::atomic<int> registered_ = 0, errors_ = 0;
  std::thread thread_;
};

bool wait_for_devices(const Devices& devices, int count) {
  for (int i = 0; i < 3000 && devices.registered() + devices.errors() < count; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return devices.registered() == count;
}

struct Times {
  std::vector<double> us;
  int errors = 0;
  double quantile(double share) const {
    if (us.empty()) return 0;
    std::vector<double> sorted = us;
    std::ranges::sort(sorted);
    return sorted[std::min(sorted.size() - 1, static_cast<size_t>(share * static_cast<double>(sorted.size())))];
  }
};

Times lease_and_release(const Address& tracker, const std::string& key, int count) {
  Times times;
  auto client = TrackerClient::connect(tracker, std::chrono::seconds(30), "bench");
  if (!client) return times.errors = count, times;
  for (int i = 0; i < count; ++i) {
    auto start = Clock::now();
    auto grant = (*client)->lease(key, 0, std::chrono::seconds(10), {});
    double us = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
    if (!grant || !(*client)->release(grant->token)) ++times.errors;
    if (grant) times.us.push_back(us);
  }
  return times;
}

Times many_clients(const Address& tracker, const std::string& key, const Options& options) {
  std::vector<Times> each(static_cast<size_t>(options.clients));
  std::vector<std::thread> threads;
  for (Times& times : each) {
    threads.emplace_back([&] { times = lease_and_release(tracker, key, options.leases_per_client); });
  }
  for (std::thread& thread : threads) thread.join();
  Times all;
  for (const Times& times : each) {
    all.us.insert(all.us.end(), times.us.begin(), times.us.end());
    all.errors += times.errors;
  }
  return all;
}

Result<nlohmann::json> measure(const Options& options) {
  FARM_TRY(auto child,
           ChildProgram::start({.program = program_beside_this("tracker"), .args = {"--port", "0", "--log", "error"}}));
  Address tracker{"127.0.0.1", child.port()};
  Devices solo(tracker, "solo", 1);
  if (!wait_for_devices(solo, 1)) return fail(ErrorCode::Unavailable, "the tracker took no registration");
  Times one = lease_and_release(tracker, "solo", options.leases);

  Devices pool(tracker, "pool", options.devices);
  bool all_registered = wait_for_devices(pool, options.devices);
  auto start = Clock::now();
  Times many = many_clients(tracker, "pool", options);
  double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  int errors = one.errors + many.errors + solo.errors() + pool.errors() + (all_registered ? 0 : 1);
  return nlohmann::json{{"one_client",
                         {{"leases", one.us.size()},
                          {"p50_us", one.quantile(0.5)},
                          {"p99_us", one.quantile(0.99)},
                          {"min_us", one.quantile(0)}}},
                        {"many",
                         {{"devices", pool.registered()},
                          {"clients", options.clients},
                          {"errors", errors},
                          {"leases", many.us.size()},
                          {"p50_us", many.quantile(0.5)},
                          {"p99_us", many.quantile(0.99)},
                          {"leases_per_s", static_cast<double>(many.us.size()) / seconds}}}};
}

void print(const nlohmann::json& result) {
  const auto &one = result["one_client"], &many = result["many"];
  fmt::print("one client:  {} leases, request to grant p50 {:.0f} us, p99 {:.0f} us (goal: p50 below 500 us)\n",
             one["leases"].get<int>(), one["p50_us"].get<double>(), one["p99_us"].get<double>());
  fmt::print(
      "many:        {} devices, {} clients, {} errors (goal: 0), {:.0f} leases/s, p50 {:.0f} us, p99 {:.0f} us\n",
      many["devices"].get<int>(), many["clients"].get<int>(), many["errors"].get<int>(),
      many["leases_per_s"].get<double>(), many["p50_us"].get<double>(), many["p99_us"].get<double>());
}

}  // namespace
}  // namespace farm

int main(int argc, char** argv) {
  farm::Options options;
  CLI::App app("Times request to grant at the tracker", "bench_tracker_lease");
  farm::in_range(app.add_option("--devices", options.devices, "Registered devices of the second part"), 1, 20'000)
      ->capture_default_str();
  farm::in_range(app.add_option("--clients", options.clients, "Clients of the second part"), 1, 10'000)
      ->capture_default_str();
  farm::in_range(app.add_option("--leases", options.leases, "Leases of the first part"), 1, 10'000'000)
      ->capture_default_str();
  farm::in_range(
      app.add_option("--leases-per-client", options.leases_per_client, "Leases of each client of the second part"), 1,
      1'000'000)
      ->capture_default_str();
  app.add_flag("--json", options.json, "Print one JSON document");
  if (auto code = farm::parse_command_line(app, argc, argv)) return *code;
  auto result = farm::measure(options);
  if (!result) return farm::report_error("bench_tracker_lease", result.error());
  if (options.json) {
    fmt::print("{}\n", result->dump(2));
  } else {
    farm::print(*result);
  }
  bool good = (*result)["many"]["errors"] == 0;
  return good ? 0 : 3;
}
