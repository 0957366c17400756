// One child of the runner from fork to burial.
#pragma once
#include <expected>

#include "runtime/cpu/kernel_run.h"
#include "runtime/cpu/measure_child.h"

namespace farm {

/// A child that ended without a reply, and the artifact that it was at.
struct ChildFailure {
  int active = 0;
  Fault fault;
};

class ChildLauncher {
 public:
  /// `server`: the socket whose other end is the server. When that closes while a child runs, child and runner end.
  explicit ChildLauncher(int server);

  /// Runs the job in a fresh process. All of it may take policy.timeout an artifact, and a single call no longer than
  /// one; at the limit the child and its process group are killed, which nothing that it does can prevent.
  std::expected<ChildReply, ChildFailure> run(const ChildJob& job);

 private:
  int server_;
  int server_pid_;
  ChildReport* report_;  ///< shared with the child
};

/// Waits for a message; ends the process when the server is gone.
void wait_for_server(int server);

}  // namespace farm
