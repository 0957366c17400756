#include "codegen/llvm/passes.h"

#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/Error.h>

#include <string>

#include "base/result.h"

namespace farm::codegen {
namespace {

struct Pass {
  const char* name;
  const char* why;
};

constexpr Pass kPasses[] = {
    {"sroa", "accumulator tiles become vector registers"},
    {"early-cse", "unrolled bodies compute the same addresses and loads again and again"},
    {"instcombine<no-verify-fixpoint>", "index arithmetic and masks fold"},
    {"loop-mssa(licm)", "what does not change in a loop leaves it, loads included"},
    {"early-cse<memssa>", "and is shared with what else was hoisted"},
    {"simplifycfg", "empty blocks of guards and tails go"},
};

std::string pipeline_text() {
  std::string text;
  for (const auto& pass : kPasses) text += (text.empty() ? "" : ",") + std::string(pass.name);
  return "function(" + text + ")";
}

}  // namespace

void optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager call_graph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(call_graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, call_graph, modules);

  llvm::ModulePassManager pipeline;
  const std::string text = pipeline_text();
  if (auto error = builder.parsePassPipeline(pipeline, text))
    FARM_ASSERT(false, "pass pipeline ", text, ": ", llvm::toString(std::move(error)));
  pipeline.run(module, modules);
}

}  // namespace farm::codegen
