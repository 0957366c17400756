#include "apps/daemon.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <limits>
#include <map>

#include "apps/cli.h"
#include "apps/standard_output.h"
#include "base/log.h"
#include "base/text.h"

namespace farm {

void add_daemon_options(CLI::App& app, DaemonOptions& options) {
  app.add_flag("--json", options.json, "Print where it listens as one JSON document");
  app.add_flag("--die-with-parent", options.die_with_parent, "End when the process that started this one ends");
  in_range(
      app.add_option("--ready-fd", options.ready_fd, "Write the port and a newline to this descriptor once it serves"),
      0, std::numeric_limits<int>::max());
  app.add_option("--log", options.log, "Least level of log lines: debug, info, warning, error")->capture_default_str();
}

static Status set_log(const std::string& name) {
  const std::map<std::string, LogLevel> levels{
      {"debug", LogLevel::Debug}, {"info", LogLevel::Info}, {"warning", LogLevel::Warning}, {"error", LogLevel::Error}};
  auto at = levels.find(name);
  if (at == levels.end()) {
    return fail(ErrorCode::InvalidArgument, "--log is '", printable(name),
                "'; debug, info, warning or error is wanted");
  }
  set_log_level(at->second);
  return {};
}

// A socket is a descriptor: a thousand devices need more than the usual 1,024.
static void raise_open_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

Status prepare_daemon(const DaemonOptions& options) {
  FARM_CHECK(set_log(options.log));
  raise_open_files();
  if (!options.die_with_parent) return {};
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() == 1) return fail(ErrorCode::Interrupted, "the parent process is gone already");
  return {};
}

Status announce(const DaemonOptions& options, const std::string& text, const std::string& json, uint16_t port) {
  FARM_CHECK(print((options.json ? json : text) + "\n"));
  if (options.ready_fd < 0) return {};
  std::string line = std::to_string(port) + "\n";
  if (write(options.ready_fd, line.data(), line.size()) < 0) {
    log_event(LogLevel::Warning, "ready_fd", {{"fd", std::to_string(options.ready_fd)}, {"why", "cannot be written"}});
  }
  close(options.ready_fd);
  return {};
}

std::string who_can_reach(const std::string& host) {
  bool loopback = host.starts_with("127.") || host == "::1" || host == "localhost";
  return loopback ? "this machine only"
                  : "WARNING: no encryption and no authentication, whoever reaches this port can run code on devices";
}

void serve_until_signal(EventLoop& loop) {
  loop.on_signal([&loop](int signal) {
    log_event(LogLevel::Info, "ending", {{"signal", std::to_string(signal)}});
    loop.stop();
  });
  loop.run();
}

}  // namespace farm
