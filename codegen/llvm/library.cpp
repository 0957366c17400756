#include "codegen/llvm/compile.h"
#include "codegen/llvm/embedded_pool.h"
#include "codegen/llvm/library_entries.h"
#include "codegen/llvm/library_plan.h"
#include "codegen/llvm/link.h"
#include "codegen/llvm/object_file.h"

namespace farm {

Result<Library> build_library(const Module& module, const Target& target, const LibraryOptions& options) {
  FARM_TRY(const auto plan, codegen::plan_library(module, options));
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
