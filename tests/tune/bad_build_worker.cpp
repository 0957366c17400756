// A build worker with the real compiler, which crashes or hangs when the task says so: m=13 crashes, m=17 hangs.
#include <unistd.h>

#include <csignal>
#include <string>

#include "tuner/tuner.h"

namespace farm {
namespace {

class BadBackend final : public Backend {
 public:
  Result<Artifact> build(const Module& module, const Target& target, int threads) override {
    const auto rows = static_cast<int>(module.flops / (2 * 8 * 8));
    if (rows == 13) std::raise(SIGSEGV);
    while (rows == 17) pause();
    return real_->build(module, target, threads);
  }

 private:
  std::unique_ptr<Backend> real_ = make_llvm_backend();
};

}  // namespace
}  // namespace farm

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::signal(SIGSEGV, SIG_DFL);
  farm::BadBackend backend;
  farm::serve_build_jobs(STDIN_FILENO, std::stoi(argv[argc - 1]), backend);
  return 0;
}
