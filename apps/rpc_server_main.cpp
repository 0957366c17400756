// rpc_server: offers this machine's cores to a farm, or those of a board that it plays.
#include <fmt/format.h>
#include <sched.h>

#include <CLI/CLI.hpp>

#include "apps/cli.h"
#include "apps/daemon.h"
#include "apps/emulated_board.h"
#include "apps/tracker_address.h"
#include "base/text.h"
#include "rpc_server/rpc_server.h"
#include "runtime/cpu/cpu_device.h"
#include "target/target.h"

namespace farm {
namespace {

struct Options {
  std::string tracker, key, id, emulate;
  std::string listen = "127.0.0.1";
  uint16_t port = 0;
  CpuDeviceOptions device;
  DaemonOptions daemon;
};

void add_options(CLI::App& app, Options& options) {
  app.add_option("--tracker", options.tracker, "HOST:PORT; else $TUNEFARM_TRACKER, else 127.0.0.1:9190");
  app.add_option("--key", options.key, "The queue that this device serves, e.g. bench1; with --emulate the kind");
  app.add_option("--id", options.id, "Name of this device, unique in the farm; else KEY@HOST:PORT");
  app.add_option("--listen", options.listen, "Address where clients come; 0.0.0.0 for all")->capture_default_str();
  in_range(app.add_option("--port", options.port, "Port where clients come; 0 takes any free one"), 0, 65535)
      ->capture_default_str();
  app.add_option("--isa", options.device.isa, "Be no more than this level, e.g. x86-64-v3");
  in_range(app.add_option("--cores", options.device.cores, "CPU numbers that kernels run on, e.g. 0,1; else all"), 0,
           CPU_SETSIZE - 1)
      ->delimiter(',');
  app.add_option("--emulate", options.emulate, "Play a board, in QEMU: rk3399, rpi4, aarch64, armv7, riscv64 ...");
  app.add_flag(kUnderEmulation, options.device.emulated)->group("");  // what --emulate starts
  add_daemon_options(app, options.daemon);
}

Status announce_device(const Options& options, const DeviceServer& server, const Target& target) {
  const Address& address = server.address();
  std::string json = fmt::format(
      R"({{"id": {}, "key": {}, "listen": {}, "port": {}, "target": {}, "cores": {}, "peak_gflops_core": {}, )"
      R"("emulated": {}, "clock": {}}})",
      json_quoted(server.id()), json_quoted(options.key), json_quoted(address.host), address.port,
      json_quoted(target.text()), target.cores, target.peak_gflops_core, target.emulated,
      json_quoted(clock_of(target)));
  std::string speed =
      target.emulated ? "its times mean nothing" : fmt::format("{:.1f} GFLOP/s each", target.peak_gflops_core);
  std::string text =
      fmt::format("{} offers {} core{} of {} ({}), listens on {} ({})", server.id(), target.cores,
                  target.cores == 1 ? "" : "s", target.text(), speed, address.text(), who_can_reach(address.host));
  return announce(options.daemon, text, json, address.port);
}

Status check_key(const std::string& key) {
  if (key.empty()) return fail(ErrorCode::InvalidArgument, "--key is required");
  FARM_CHECK(check_device_key("--key", key));
  Status kind = check_key_kind("--key", key, describe_host());
  if (!kind && can_emulate(key)) kind.error().message += ", or play that board: --emulate " + key;
  return kind;
}

Status serve(const Options& options) {
  FARM_CHECK(check_key(options.key));
  if (!options.id.empty()) FARM_CHECK(check_device_id("--id", options.id));
  FARM_CHECK(prepare_daemon(options.daemon));
  FARM_TRY(auto tracker, tracker_address(options.tracker));
  FARM_TRY(auto device, make_cpu_device(options.device));  // forks: before the loop and its sockets
  SteadyClock clock;
  auto loop = EventLoop::create();
  DeviceServerOptions server_options{
      .tracker = tracker, .key = options.key, .id = options.id, .listen = {options.listen, options.port}};
  FARM_TRY(auto server, DeviceServer::start(*loop, *device, clock, server_options));
  FARM_CHECK(announce_device(options, *server, device->target()));
  serve_until_signal(*loop);
  return {};
}

}  // namespace
}  // namespace farm

int main(int argc, char** argv) {
  farm::Options options;
  CLI::App app(
      "Offers this machine's cores to a farm: registers with a tracker and measures for whoever holds the lease.",
      "rpc_server");
  farm::add_options(app, options);
  if (auto code = farm::parse_command_line(app, argc, argv)) return *code;
  if (!options.emulate.empty() && !options.device.emulated)
    return farm::report_error("rpc_server", farm::become_emulated_board(options.emulate, argc, argv));
  if (options.key.empty()) options.key = options.emulate;
  auto done = farm::serve(options);
  return done ? 0 : farm::report_error("rpc_server", done.error());
}
