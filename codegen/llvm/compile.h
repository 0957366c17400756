// The steps from a lowered module to machine code, shared by kernels, libraries and listings.
#pragma once
#include <memory>

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include "codegen/codegen.h"

namespace farm::codegen {

/// An LLVM module with the machine it is for.
struct Unit {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::TargetMachine> machine;
};

/// IR as emitted. Fails when the module cannot be expressed.
Result<Unit> make_unit(const Module& module, const Target& target, int threads);

/// Sets attributes, checks the IR (our own bug otherwise) and runs the passes.
void optimize_unit(Unit& unit, const Target& target);

}  // namespace farm::codegen
