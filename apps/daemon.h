// What the programs that serve share: telling a parent where they listen, and not outliving it.
#pragma once
#include <string>

#include "base/result.h"
#include "rpc/event_loop.h"

namespace CLI {
class App;
}

namespace farm {

struct DaemonOptions {
  bool json = false;
  bool die_with_parent = false;
  int ready_fd = -1;
  std::string log = "info";
};
/// --json, --die-with-parent, --ready-fd N, --log LEVEL.
void add_daemon_options(CLI::App& app, DaemonOptions& options);
/// Log level, open files, the parent's death. Call it first.
Status prepare_daemon(const DaemonOptions& options);

/// One line, once it serves, on standard output: `text` or, with --json, `json`; and "PORT\n" to --ready-fd.
Status announce(const DaemonOptions& options, const std::string& text, const std::string& json, uint16_t port);
/// "this machine only" or a warning that there is neither encryption nor authentication.
std::string who_can_reach(const std::string& host);

/// Serves until SIGINT or SIGTERM: both are a graceful end.
void serve_until_signal(EventLoop& loop);

}  // namespace farm
