#include "apps/emulated_board.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

#include "apps/child_program.h"
#include "base/text.h"

namespace farm {
namespace {

/// What is played, by which program, as which of the emulator's CPUs.
struct Kind {
  std::string_view name;
  std::string_view isa;  ///< folder of dist/
  std::string_view cpu;  ///< QEMU's name
};
constexpr Kind kKinds[] = {
    {"aarch64", "aarch64", "max"},
    {"armv7", "armv7", "max"},
    {"riscv64", "riscv64", "rv64"},
    {"riscv64-v", "riscv64", "rv64,v=true,vext_spec=v1.0"},
    {"rk3399", "aarch64", "cortex-a72"},  // its big cores
    {"rpi3", "aarch64", "cortex-a53"},
    {"rpi4", "aarch64", "cortex-a72"},
    {"rpi5", "aarch64", "cortex-a76"},
    {"visionfive2", "riscv64", "sifive-u54"},  // U74 without its bit instructions, which QEMU does not offer by name
};

Result<Kind> find_kind(const std::string& name) {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) {
    if (kind.name == name) return kind;
    names.emplace_back(kind.name);
  }
  return fail(ErrorCode::InvalidArgument, "no board \"", printable(name), "\" to emulate", did_you_mean(name, names),
              "; possible are ", join(names, ", "));
}

// The emulator ----------------------------------------------------------------------------------------------------

std::optional<std::string> find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path ? path : "", ':')) {
    std::string file = folder;
    file.append("/").append(name);
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return std::nullopt;
}

Result<std::string> find_emulator(const Kind& kind) {
  std::string name = "qemu-" + std::string(kind.isa == "armv7" ? "arm" : kind.isa);
  for (const std::string& program : {name + "-static", name})
    if (auto found = find_program(program)) return *found;
  return fail(ErrorCode::NotFound, "no ", name, " here to emulate ", kind.name,
              "; install it, on Debian and Ubuntu by `apt-get install qemu-user-static`");
}

// The board's program ---------------------------------------------------------------------------------------------

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

/// The folder of the checkout that this program was built in; nothing when it was installed elsewhere.
std::optional<std::string> find_checkout() {
  for (std::string folder = program_beside_this("");;) {
    size_t slash = folder.find_last_of('/');
    if (slash == std::string::npos || slash == 0) return std::nullopt;
    folder.resize(slash);
    if (exists(folder + "/farm") && exists(folder + "/cmake/cross")) return folder;
  }
}

/// Missing, or older than this program: the two might not understand each other.
bool is_outdated(const std::string& program) {
  struct stat board, self;
  if (stat(program.c_str(), &board) != 0 || stat("/proc/self/exe", &self) != 0) return true;
  return std::pair(board.st_mtim.tv_sec, board.st_mtim.tv_nsec) < std::pair(self.st_mtim.tv_sec, self.st_mtim.tv_nsec);
}

Status build_for(const Kind& kind, const std::string& checkout) {
  std::string launcher = checkout + "/farm", isa(kind.isa);
  pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    dup2(2, 1);  // standard output is for where this program listens
    execl(launcher.c_str(), "farm", "build", "--target", isa.c_str(), nullptr);
    _exit(127);
  }
  int status = -1;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (status == 0) return {};
  return fail(ErrorCode::NotFound, "could not build rpc_server for ", kind.isa, "; `", launcher, " build --target ",
              isa, "` says why");
}

Result<std::string> board_program(const Kind& kind) {
  if (auto checkout = find_checkout()) {
    std::string program = *checkout + "/dist/" + std::string(kind.isa) + "/rpc_server";
    if (is_outdated(program)) FARM_CHECK(build_for(kind, *checkout));
    return program;
  }
  std::string beside = program_beside_this("rpc_server-" + std::string(kind.isa));
  if (access(beside.c_str(), X_OK) == 0) return beside;
  return fail(ErrorCode::NotFound, "no program ", beside, " to emulate ", kind.name,
              "; in a checkout `./farm build --target ", kind.isa, "` makes it, as dist/", kind.isa, "/rpc_server");
}

// ---------------------------------------------------------------------------------------------------------------------

/// Emulated kernels cannot be held to a limit of their own: the emulator does not pass that on. This one leaves this
/// machine half of its memory, beside the 4 GiB of addresses and the buffers that the emulator takes for itself.
void limit_memory() {
  struct sysinfo info;
  if (sysinfo(&info) != 0) return;
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur =
      std::min<uint64_t>(limit.rlim_max, uint64_t{info.totalram} * info.mem_unit / 2 + (uint64_t{6} << 30));
  setrlimit(RLIMIT_AS, &limit);
}

}  // namespace

bool can_emulate(const std::string& name) { return find_kind(name).has_value(); }

Error become_emulated_board(const std::string& name, int argc, char** argv) {
  auto kind = find_kind(name);
  if (!kind) return kind.error();
  auto emulator = find_emulator(*kind);
  if (!emulator) return emulator.error();
  auto program = board_program(*kind);
  if (!program) return program.error();

  std::vector<std::string> words{*emulator, "-cpu", std::string(kind->cpu), *program};
  words.insert(words.end(), argv + 1, argv + argc);
  words.emplace_back(kUnderEmulation);
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  limit_memory();
  execv(emulator->c_str(), arguments.data());
  return {ErrorCode::Unavailable, "cannot start " + *emulator + ": " + std::strerror(errno)};
}

}  // namespace farm
