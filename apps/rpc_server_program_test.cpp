// The program's own rules on names of boards: which it plays, and which may not be a key here.
#include <sys/wait.h>

#include <cstdio>

#include "base/text.h"
#include "target/target.h"
#include "testing.h"

namespace {

/// "exit code\nstandard error".
std::string rpc_server(const std::string& arguments) {
  FILE* pipe = popen(("'" RPC_SERVER_PROGRAM "' " + arguments + " 2>&1 >/dev/null").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string output;
  char buffer[4096];
  for (size_t got; (got = fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, got);
  int status = pclose(pipe);
  return std::to_string(WEXITSTATUS(status)) + "\n" + output;
}

/// A board that this machine can play and cannot be.
std::string foreign_board() {
  return farm::isa_family(farm::describe_host().isa) == "riscv64" ? "rk3399" : "visionfive2";
}

}  // namespace

TEST_CASE("what is played is a known board or an ISA level") {
  std::string answer = rpc_server("--emulate ?"), before = "possible are ";
  REQUIRE(answer.starts_with("2\n"));
  size_t from = answer.find(before);
  REQUIRE(from != std::string::npos);
  auto kinds = farm::split(farm::trim(answer.substr(from + before.size())), ',');
  CHECK(kinds.size() >= 9);
  for (const std::string& padded : kinds) {
    std::string kind(farm::trim(padded));
    INFO(kind);
    auto target = farm::target_from_name(kind);
    CHECK((farm::find_board(kind) || (target && target->cpu == target->isa)));
  }
}

TEST_CASE("a key that means a known board of another ISA is refused with the ways out") {
  std::string board = foreign_board(), answer = rpc_server("--key " + board + " --tracker 127.0.0.1:1");
  CHECK(answer == "2\nrpc_server: --key " + board + " means a known board of " +
                      std::string(farm::isa_family(farm::find_board(board)->isa)) + ", and this device is " +
                      farm::describe_host().text() + "; choose another key such as my-" + board +
                      ", or play that board: --emulate " + board + "\n");
  if (farm::isa_family(farm::describe_host().isa) != "aarch64")  // one that it cannot play
    CHECK(rpc_server("--key pixel6").ends_with("; choose another key such as my-pixel6\n"));
}
