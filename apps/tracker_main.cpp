// tracker: hands devices to clients; tracker status: what it knows.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "apps/cli.h"
#include "apps/daemon.h"
#include "apps/standard_output.h"
#include "apps/tracker_address.h"
#include "apps/tracker_status.h"
#include "tracker/tracker.h"

namespace farm {
namespace {

struct Options {
  std::string listen = "127.0.0.1";
  uint16_t port = 9190;
  DaemonOptions daemon;
  std::string status_tracker;
};

Status serve(const Options& options) {
  FARM_CHECK(prepare_daemon(options.daemon));
  SteadyClock clock;
  // Who does not read its answers must not cost much memory; a status of many thousand devices still fits.
  auto loop = EventLoop::create({.max_queued_bytes = 64 << 20});
  FARM_TRY(auto tracker, Tracker::start(*loop, clock, {.listen = {options.listen, options.port}}));
  const Address& address = tracker->address();
  nlohmann::json json{{"listen", address.host}, {"port", address.port}};
  FARM_CHECK(announce(options.daemon,
                      fmt::format("tracker listens on {} ({})", address.text(), who_can_reach(address.host)),
                      json.dump(), address.port));
  serve_until_signal(*loop);
  return {};
}

Status print_status(const Options& options) {
  FARM_TRY(auto address, tracker_address(options.status_tracker));
  FARM_TRY(auto client, TrackerClient::connect(address, std::chrono::seconds(5), "status"));
  FARM_TRY(auto status, client->status());
  return print((options.daemon.json ? status_json(status) : status_table(status)) + "\n");
}

}  // namespace
}  // namespace farm

int main(int argc, char** argv) {
  farm::Options options;
  CLI::App app("Hands devices to whoever asks, one lease at a time. `tracker status` shows what it knows.", "tracker");
  farm::in_range(app.add_option("--port", options.port, "Port to listen on; 0 takes any free one"), 0, 65535)
      ->capture_default_str();
  app.add_option("--listen", options.listen, "Address to listen on; 0.0.0.0 for all")->capture_default_str();
  farm::add_daemon_options(app, options.daemon);
  CLI::App* status = app.add_subcommand("status", "Print devices, queue and leases of a running tracker");
  status->add_option("--tracker", options.status_tracker, "HOST:PORT; else $TUNEFARM_TRACKER, else 127.0.0.1:9190");
  status->add_flag("--json", options.daemon.json, "Print one JSON document");  // before the command too
  if (auto code = farm::parse_command_line(app, argc, argv)) return *code;
  auto done = *status ? farm::print_status(options) : farm::serve(options);
  return done ? 0 : farm::report_error("tracker", done.error());
}
