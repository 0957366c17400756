#include "codegen/llvm/object_file.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Support/raw_ostream.h>

#include "base/result.h"

namespace farm::codegen {
namespace {

llvm::SmallVector<char, 0> emit(llvm::Module& module, llvm::TargetMachine& machine, llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  llvm::legacy::PassManager passes;
  const bool refused = machine.addPassesToEmitFile(passes, out, nullptr, type, /*DisableVerify=*/true);
  FARM_ASSERT(!refused, "LLVM emits no such file");
  passes.run(module);
  return bytes;
}

}  // namespace

std::vector<std::byte> emit_object(llvm::Module& module, llvm::TargetMachine& machine) {
  const auto bytes = emit(module, machine, llvm::CodeGenFileType::ObjectFile);
  const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
  return {begin, begin + bytes.size()};
}

std::string emit_assembly(llvm::Module& module, llvm::TargetMachine& machine) {
  const auto text = emit(module, machine, llvm::CodeGenFileType::AssemblyFile);
  return {text.begin(), text.end()};
}

}  // namespace farm::codegen
