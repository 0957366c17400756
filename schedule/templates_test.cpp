// Any legal candidate of every template computes what the reference computes: by interpreter, on small odd shapes.
#include <cmath>

#include "schedule/schedule.h"
#include "testing.h"

namespace farm {
namespace {

Target test_target(const char* isa) { return *target_from_name(isa); }

// In the module's order of operands, and in the reference's.
struct Inputs {
  std::vector<std::vector<float>> by_task, by_module;
};

Inputs random_inputs(const TaskSignature& signature, Rng& rng) {
  Inputs inputs;
  for (const auto& tensor : signature.inputs) {
    std::vector<float> values(tensor.type.elements());
    for (auto& value : values) value = static_cast<float>(rng.uniform() * 2 - 1);
    inputs.by_task.push_back(values);
  }
  for (bool constant : {false, true})
    for (size_t i = 0; i < signature.inputs.size(); ++i)
      if (signature.inputs[i].constant == constant) inputs.by_module.push_back(inputs.by_task[i]);
  return inputs;
}

// The largest error in units of sum |terms|, or the reason why there is none.
Result<double> error_of(const Module& module, const Inputs& inputs, const Reference& wanted) {
  FARM_TRY(std::vector<float> output, interpret(module, inputs.by_module));
  double worst = 0;
  for (size_t i = 0; i < output.size(); ++i) {
    double error = std::abs(static_cast<double>(output[i]) - wanted.output[i]) / std::max(wanted.terms[i], 1e-30f);
    if (!(error <= worst)) worst = std::isnan(error) ? 1e30 : error;
  }
  return worst;
}

void check_candidates(const std::string& task_text, const char* isa, int threads, int count, uint64_t seed) {
  auto task = task_from_text(task_text);
  REQUIRE(task);
  auto space = make_space(*task, test_target(isa), threads);
  REQUIRE(space);
  Rng rng(seed);
  Inputs inputs = random_inputs(*signature(*task), rng);
  Reference wanted = *reference(*task, inputs.by_task);
  for (int i = 0; i < count; ++i) {
    auto candidate = i == 0 ? (*space)->default_candidate() : (*space)->sample(rng).value();
    INFO(task_text << " on " << isa << " with " << threads << " threads: " << candidate.text());
    CHECK((*space)->contains(candidate));
    auto program = instantiate(**space, candidate);
    if (!program) INFO(program.error().message);
    REQUIRE(program);
    auto error = error_of(program->lowered, inputs, wanted);
    INFO((error ? "" : error.error().message) << to_string(program->lowered).substr(0, 6000));
    REQUIRE(error);
    CHECK(*error < 1e-5);
  }
}

const char* const kTasks[] = {
    "conv2d(in_channels=5,height=9,width=11,out_channels=18,kernel=3,padding=1)",
    "conv2d(in_channels=4,height=8,width=8,out_channels=16,kernel=3,stride=2,padding=1)",
    "conv2d(in_channels=6,height=7,width=7,out_channels=20,kernel=1)",
    "conv2d(in_channels=6,height=8,width=7,out_channels=9,kernel=1,stride=2)",
    "conv2d(batch=2,in_channels=6,height=10,width=9,out_channels=12,kernel=3x1,padding=1x0,dilation=2,groups=3)",
    "conv2d(in_channels=3,height=13,width=13,out_channels=8,kernel=5,stride=3)",
    "depthwise_conv2d(in_channels=5,height=9,width=10,kernel=3,padding=1)",
    "depthwise_conv2d(in_channels=3,height=9,width=11,kernel=3,stride=2,padding=1,multiplier=2)",
    "matmul(m=13,n=21,k=12)",
    "matmul(m=7,n=24,k=10,transpose_b=1)",
    "matmul(m=5,n=33,k=8,bias=1,constant=b)",
    "matmul(m=1,n=40,k=16,constant=b)",
    "batch_matmul(batch=3,m=6,n=17,k=5)",
};

}  // namespace

TEST_CASE("every template's default and random candidates compute what the reference computes") {
  uint64_t seed = 1;
  for (const char* task : kTasks)
    for (const char* isa : {"x86-64-v3", "x86-64-v4"}) check_candidates(task, isa, 1 + seed % 2, 8, seed++);
}

}  // namespace farm
