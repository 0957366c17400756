// The optimisation passes that a kernel goes through.
#pragma once
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace farm::codegen {

/// Optimises in place. The schedule has already chosen tiles, vectors and unrolling, so nothing here transforms loops.
void optimize(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace farm::codegen
