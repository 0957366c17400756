#include "codegen/llvm/output_pipe.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "testing.h"

using namespace farm;

TEST_CASE("output larger than a pipe comes back whole, though a process forked meanwhile holds the pipe open") {
  const std::string text(300'000, 'x');
  pid_t bystander = -1;
  const auto output = codegen::capture_output([&](const std::string& path) -> Status {
    bystander = fork();
    if (bystander == 0) {
      pause();
      _exit(0);
    }
    std::ofstream(path) << text << 'y';
    return {};
  });
  REQUIRE(output.has_value());
  CHECK(output->size() == text.size() + 1);
  CHECK(output->back() == std::byte{'y'});
  kill(bystander, SIGKILL);
  waitpid(bystander, nullptr, 0);
}

TEST_CASE("a writer that fails is the caller's failure") {
  const auto output =
      codegen::capture_output([](const std::string&) -> Status { return fail(ErrorCode::Unavailable, "no paper"); });
  REQUIRE(!output.has_value());
  CHECK(output.error().message == "no paper");
}
