// Ours, as a user has it: `compile` writes a shared library, which is opened and called through its C functions.
#include "benchmarks/vendor/ours.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/text.h"

extern char** environ;

namespace farm::vendor {
namespace {

namespace fs = std::filesystem;

struct Command {
  std::vector<std::string> words;
  fs::path output, errors;
};

// Exit code of a program whose output goes into files.
int run_command(const Command& command) {
  std::vector<char*> arguments;
  for (const auto& word : command.words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 1, command.output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&files, 2, command.errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t pid = 0;
  int status = posix_spawn(&pid, arguments[0], &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (status != 0) return 127;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

std::string first_line(const fs::path& path) {
  std::string line;
  std::getline(std::ifstream(path) >> std::ws, line);
  return line;
}

// A C function on pointers alone, with as many as there are.
int call(void* function, const std::vector<const void*>& p) {
  using P = const void*;
  switch (p.size()) {
    case 2:
      return reinterpret_cast<int (*)(P, P)>(function)(p[0], p[1]);
    case 3:
      return reinterpret_cast<int (*)(P, P, P)>(function)(p[0], p[1], p[2]);
    case 4:
      return reinterpret_cast<int (*)(P, P, P, P)>(function)(p[0], p[1], p[2], p[3]);
    default:
      return -1;
  }
}

}  // namespace

Result<Ours> compile_ours(const Task& task, const CompileOptions& options, const Inputs& inputs) {
  fs::path folder = options.folder;
  // A name of its own: dlopen takes a path that it has opened before for the same library.
  static int number = 0;
  std::string shared_object = (folder / ("ours" + std::to_string(++number) + ".so")).string();
  std::vector<std::string> words{
      options.compile_program,         "--task", task.text(), "--target", "local",       "--threads",
      std::to_string(options.threads), "--name", "ours",      "-o",       shared_object, "--header",
      (folder / "ours.h").string(),    "--json"};
  if (!options.database.empty()) words.insert(words.end(), {"--db", options.database});
  Command command{words, folder / "compile.json", folder / "compile.log"};
  if (int code = run_command(command); code != 0) {
    return fail(ErrorCode::NoCandidate, "compile ", task.text(), " ended with ", code, ": ",
                first_line(command.errors));
  }
  auto report = nlohmann::json::parse(std::ifstream(command.output), nullptr, false);
  if (report.is_discarded()) return fail(ErrorCode::Corrupt, "compile --json printed no document");

  FARM_TRY(auto shape, signature(task));
  // RTLD_LOCAL, and never closed: the library's threads may still be on their way to sleep.
  void* library = dlopen(shared_object.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return fail(ErrorCode::Corrupt, "the compiled library does not open: ", dlerror());
  size_t out_elements = 1;
  for (int64_t extent : shape.output.type.shape) out_elements *= size_t(extent);
  auto out = std::make_shared<std::vector<float>>(out_elements);

  std::vector<const void*> pointers;
  std::vector<const void*> constants;
  for (size_t i = 0; i < inputs.size(); ++i)
    (shape.inputs[i].constant ? constants : pointers).push_back(inputs[i].data());
  void* run = dlsym(library, constants.empty() ? "ours" : "ours_run");
  if (!run) return fail(ErrorCode::Corrupt, "the compiled library has no function to run");
  std::shared_ptr<void> packed;
  if (!constants.empty()) {
    size_t bytes = reinterpret_cast<size_t (*)()>(dlsym(library, "ours_packed_bytes"))();
    packed.reset(std::aligned_alloc(64, (bytes + 63) / 64 * 64 + 64), std::free);
    constants.push_back(packed.get());
    if (call(dlsym(library, "ours_prepack"), constants) != 0) return fail(ErrorCode::Corrupt, "prepack failed");
    pointers.push_back(packed.get());
  }
  pointers.push_back(out->data());

  Ours ours{.schedule = report.value("schedule", "?")};
  ours.contender = {.library = "tunefarm", .variant = ours.schedule, .plain = true};
  ours.contender.run = [run, pointers, packed] { call(run, pointers); };
  ours.contender.fetch = [out](float* to) { std::memcpy(to, out->data(), out->size() * sizeof(float)); };
  return ours;
}

}  // namespace farm::vendor
