// The steps from a lowered module to machine code, shared by kernels, libraries and listings.
#pragma once
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>

#include "codegen/codegen.h"
#include "codegen/llvm/environment.h"

namespace farm::codegen {

/// An LLVM module with the machine it is for.
struct Unit {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::TargetMachine> machine;
};

/// IR as emitted; what the options say of the machine is filled in. Fails when the module cannot be expressed.
Result<Unit> make_unit(const Module& module, const Target& target, CodeOptions options);

/// Sets attributes, checks the IR (our own bug otherwise) and runs the passes.
void optimize_unit(Unit& unit, const Target& target);

}  // namespace farm::codegen
