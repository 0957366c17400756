#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "codegen/llvm/architecture.h"
#include "codegen/llvm/compile.h"
#include "codegen/llvm/embedded_pool.h"
#include "codegen/llvm/library_entries.h"
#include "codegen/llvm/library_plan.h"
#include "codegen/llvm/link.h"
#include "codegen/llvm/object_file.h"

namespace farm {
namespace {

/// The pool is machine code: the build made it for one family.
Status check_pool_fits(const Target& target) {
  FARM_TRY(const auto* architecture, codegen::architecture_of(target.isa));
  Elf64_Ehdr header{};
  static_assert(offsetof(Elf64_Ehdr, e_machine) == offsetof(Elf32_Ehdr, e_machine));
  const auto pool = codegen::embedded_pool();
  std::memcpy(&header, pool.data(), std::min(sizeof header, pool.size()));
  if (header.e_machine == architecture->elf_machine) return {};
  return fail(ErrorCode::InvalidArgument, "codegen: no library for ", target.text(),
              " can be made here: the threads that it carries are built for this machine's isa alone");
}

}  // namespace

Result<Library> build_library(const Module& module, const Target& target, const LibraryOptions& options) {
  FARM_TRY(const auto plan, codegen::plan_library(module, options));
  FARM_CHECK(check_pool_fits(target));
  FARM_TRY(auto unit, codegen::make_unit(module, target, {.threads = options.threads, .aligned_packed = false}));
  codegen::emit_library_entries(*unit.module, plan);
  codegen::optimize_unit(unit, target);
  const auto object = codegen::emit_object(*unit.module, *unit.machine);
  Library library;
  FARM_TRY(library.shared_object, codegen::link_shared_object({
                                      .objects = {object, codegen::embedded_pool()},
                                      .needed = {"libc.so.6", "libm.so.6", "libpthread.so.0"},
                                  }));
  library.header = codegen::library_header(plan, target);
  return library;
}

}  // namespace farm
