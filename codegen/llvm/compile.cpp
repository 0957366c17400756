#include "codegen/llvm/compile.h"

#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "codegen/llvm/architecture.h"
#include "codegen/llvm/machine.h"
#include "codegen/llvm/module_emitter.h"
#include "codegen/llvm/passes.h"

namespace farm::codegen {

Result<Unit> make_unit(const Module& module, const Target& target, CodeOptions options) {
  Unit unit;
  FARM_TRY(unit.machine, make_machine(target));
  unit.context = std::make_unique<llvm::LLVMContext>();
  unit.module = std::make_unique<llvm::Module>("kernel", *unit.context);
  prepare_module(*unit.module, *unit.machine);
  FARM_TRY(const Architecture* architecture, architecture_of(target.isa));
  options.fma = target.has(architecture->fma_feature);
  FARM_CHECK(emit_module(module, options, *unit.module));
  return unit;
}

void optimize_unit(Unit& unit, const Target& target) {
  set_function_attributes(*unit.module, target);
  std::string problem;
  llvm::raw_string_ostream out(problem);
  const bool broken = llvm::verifyModule(*unit.module, &out);
  FARM_ASSERT(!broken, "the generated IR is wrong: ", problem);
  optimize(*unit.module, *unit.machine);
}

}  // namespace farm::codegen
