// The C entry points of an exported library.
#pragma once
#include <llvm/IR/Module.h>

#include "codegen/llvm/library_plan.h"

namespace farm::codegen {

/// Adds NAME, NAME_packed_bytes, NAME_prepack and NAME_run, which call the kernels that are in `module` already and
/// that become internal.
void emit_library_entries(llvm::Module& module, const LibraryPlan& plan);

}  // namespace farm::codegen
