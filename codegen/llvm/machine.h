// LLVM's view of a Target.
#pragma once
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>

#include "base/result.h"
#include "target/target.h"

namespace farm::codegen {

/// Never selects an instruction that `target` lacks. Fails on an ISA that this build of LLVM does not know.
Result<std::unique_ptr<llvm::TargetMachine>> make_machine(const Target& target);

/// Sets layout, triple and what each function needs to be compiled for `target`.
void prepare_module(llvm::Module& module, llvm::TargetMachine& machine);
void set_function_attributes(llvm::Module& module, const Target& target);

}  // namespace farm::codegen
