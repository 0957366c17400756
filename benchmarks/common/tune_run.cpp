#include "benchmarks/common/tune_run.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "apps/child_program.h"

namespace farm {
namespace {

class TempFolder {
 public:
  TempFolder() : path_((std::filesystem::temp_directory_path() / "tune_run_XXXXXX").string()) {
    made_ = mkdtemp(path_.data()) != nullptr;
  }
  ~TempFolder() {
    std::error_code ignored;
    if (made_) std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  bool made() const { return made_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
  bool made_ = false;
};

Result<std::string> output_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return fail(ErrorCode::Unavailable, "no shell to start tune with");
  std::string output;
  char buffer[4096];
  for (size_t got; (got = fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, got);
  int status = pclose(pipe);
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (code != 0) return fail(ErrorCode::Unavailable, "tune ended with exit code ", code);
  return output;
}

}  // namespace

Result<TuneRun> run_tune(const TuneSettings& settings) {
  TempFolder folder;
  if (!folder.made()) return fail(ErrorCode::Unavailable, "no temporary folder can be made");
  std::string command =
      fmt::format("'{}' --task '{}' --device local --trials {} --threads {} --seed {} --strategy {} --db '{}' --json",
                  program_beside_this("tune"), settings.task, settings.trials, settings.threads, settings.seed,
                  settings.strategy, folder.file("tuning.db"));
  auto begin = std::chrono::steady_clock::now();
  FARM_TRY(std::string output, output_of(command));
  TuneRun run;
  run.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  run.summary = nlohmann::json::parse(output, nullptr, false);
  if (run.summary.is_discarded()) return fail(ErrorCode::Corrupt, "tune printed no JSON document");
  return run;
}

}  // namespace farm
