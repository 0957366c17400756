// What one build costs, step by step: printed for people, never judged.
#include <ctime>
#include <iostream>

#include "codegen/llvm/compile.h"
#include "codegen/llvm/link.h"
#include "codegen/llvm/object_file.h"
#include "codegen/llvm/test_kernel.h"

using namespace farm;
using namespace farm::codegen_test;

namespace {

double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

struct Cost {
  double emit = 1e9, passes = 1e9, object = 1e9, link = 1e9;
  double total() const { return emit + passes + object + link; }
};

Cost once(const Module& module, const Target& target) {
  const double start = cpu_ms();
  auto unit = codegen::make_unit(module, target, {.threads = 2});
  REQUIRE(unit.has_value());
  const double emitted = cpu_ms();
  codegen::optimize_unit(*unit, target);
  const double optimized = cpu_ms();
  const auto object = codegen::emit_object(*unit->module, *unit->machine);
  const double selected = cpu_ms();
  REQUIRE(codegen::link_shared_object({.objects = {object}}).has_value());
  return {emitted - start, optimized - emitted, selected - optimized, cpu_ms() - selected};
}

}  // namespace

TEST_CASE("what a build costs, by its steps", "[slow]") {
  Rng rng(1);
  for (const char* op : {"conv2d", "matmul", "depthwise_conv2d"}) {
    const auto space = make_space(default_task(op).value(), named("x86-64-v3"), 2).value();
    for (int sample = 0; sample < 4; ++sample) {
      const Candidate candidate = sample == 0 ? space->default_candidate() : space->sample(rng).value();
      const auto program = instantiate(*space, candidate);
      if (!program) continue;
      Cost least;
      for (int repeat = 0; repeat < 5; ++repeat) {
        const Cost cost = once(program->lowered, space->target());
        if (cost.total() < least.total()) least = cost;
      }
      std::cout << op << " " << candidate.text() << ": " << least.total() << " ms of CPU (emit " << least.emit
                << ", passes " << least.passes << ", object " << least.object << ", link " << least.link << ")"
                << std::endl;
    }
  }
}
