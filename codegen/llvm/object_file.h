// LLVM's code generator: a module becomes an object or assembly.
#pragma once
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <string>
#include <vector>

namespace farm::codegen {

/// A relocatable ELF object.
std::vector<std::byte> emit_object(llvm::Module& module, llvm::TargetMachine& machine);
std::string emit_assembly(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace farm::codegen
