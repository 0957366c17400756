#include "codegen/llvm/link.h"

#include <lld/Common/Driver.h>
#include <llvm/Support/raw_ostream.h>

#include <mutex>

#include "codegen/llvm/memory_file.h"
#include "codegen/llvm/output_pipe.h"
#include "codegen/llvm/stub_library.h"

LLD_HAS_DRIVER(elf)

namespace farm::codegen {
namespace {

std::mutex& lld_mutex() {
  static std::mutex mutex;
  return mutex;
}

Status run_lld(const std::vector<std::string>& arguments) {
  std::vector<const char*> raw;
  raw.reserve(arguments.size());
  for (const auto& argument : arguments) raw.push_back(argument.c_str());
  std::string output, errors;
  llvm::raw_string_ostream output_stream(output), error_stream(errors);
  const std::lock_guard lock(lld_mutex());
  const auto result = lld::lldMain(raw, output_stream, error_stream, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode == 0 && result.canRunAgain) return {};
  return fail(ErrorCode::NoCandidate, "codegen: the linker failed: ", errors.substr(0, errors.find('\n')));
}

}  // namespace

Result<std::vector<std::byte>> link_shared_object(const LinkJob& job) {
  std::vector<MemoryFile> inputs;
  for (const auto object : job.objects) {
    FARM_TRY(auto file, MemoryFile::create(object));
    inputs.push_back(std::move(file));
  }
  for (const auto& name : job.needed) {
    FARM_TRY(auto file, MemoryFile::create(stub_library(name)));
    inputs.push_back(std::move(file));
  }
  std::vector<std::string> arguments = {
      "ld.lld", "-shared", "--threads=1", "--hash-style=both", "-Bsymbolic", "-z", "now", "--build-id=none", "-s"};
  if (!job.soname.empty()) arguments.push_back("-soname=" + job.soname);
  for (const auto& input : inputs) arguments.push_back(input.path());
  return capture_output([&](const std::string& path) {
    arguments.insert(arguments.end(), {"-o", path});
    return run_lld(arguments);
  });
}

}  // namespace farm::codegen
