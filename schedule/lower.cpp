#include "schedule/lower.h"

#include "schedule/passes/passes.h"
#include "schedule/verify.h"

namespace farm {
namespace {

struct Pass {
  const char* name;
  Status (*run)(Module&, int threads);
};

constexpr Pass kResolve[] = {
    {"drop unit loops", simplify_module},
    {"resolve blocks", resolve_blocks},
    {"simplify", simplify_module},
    {"place buffers", place_buffers},
    {"hoist guards", hoist_guards},
    {"peel tails", peel_tails},
    {"drop guards", drop_guards},
    {"flatten buffers", flatten_buffers},
    {"simplify", simplify_module},
    {"plan memory", plan_memory},
};

constexpr Pass kLower[] = {
    {"version guards", version_guards},
    {"vectorize loops", vectorize_loops},
    {"unroll loops", unroll_loops},
    {"simplify", simplify_module},
};

template <size_t N>
Result<Module> run_passes(Module module, const Pass (&passes)[N], int threads) {
  for (const auto& pass : passes)
    if (auto status = pass.run(module, threads); !status)
      return fail(status.error().code, pass.name, ": ", status.error().message);
  return module;
}

}  // namespace

Result<Module> resolve(const Module& scheduled, int threads) { return run_passes(scheduled, kResolve, threads); }

Result<Module> lower(const Module& resolved, int threads) {
  FARM_TRY(Module module, run_passes(resolved, kLower, threads));
  FARM_CHECK(verify_lowered(module));
  return module;
}

}  // namespace farm
