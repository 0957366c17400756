// Two independent ways to the same numbers: the references' loop nests and the evaluator on the compute.
#include <cmath>

#include "base/rng.h"
#include "tensor/task.h"
#include "testing.h"

namespace farm {

static std::vector<std::vector<float>> random_inputs(const Task& task) {
  Rng rng(7);
  std::vector<std::vector<float>> inputs;
  TaskSignature types = signature(task).value();
  for (const TaskTensor& tensor : types.inputs) {
    std::vector<float> values(size_t(tensor.type.elements()));
    for (float& value : values) value = float(rng.uniform() * 2 - 1);
    inputs.push_back(std::move(values));
  }
  return inputs;
}

/// Largest error in units of sum |terms|; infinite when a shape is wrong.
static double largest_error(const std::string& text) {
  Task task = task_from_text(text).value();
  auto inputs = random_inputs(task);
  Reference right = reference(task, inputs).value();
  std::vector<double> found = evaluate(make_compute(task).value(), inputs);
  if (found.size() != right.output.size()) return HUGE_VAL;
  double largest = 0;
  for (size_t i = 0; i < found.size(); ++i)
    largest =
        std::max(largest, std::fabs(found[i] - double(right.output[i])) / std::max(1e-30, double(right.terms[i])));
  return largest;
}

TEST_CASE("every operator's reference agrees with its compute on odd shapes") {
  for (const char* text : {
           "conv2d(in_channels=3,height=7,width=9,out_channels=5,kernel=3,padding=1)",
           "conv2d(batch=2,in_channels=4,height=11,width=8,out_channels=6,kernel=3x2,stride=2x3,padding=2x1,dilation="
           "2x1,groups=2)",
           "conv2d(in_channels=3,height=5,width=5,out_channels=2,kernel=1)",
           "conv2d(in_channels=6,height=5,width=19,out_channels=9,kernel=1x3,padding=0x1,groups=3)",
           "conv2d(in_channels=4,height=6,width=6,out_channels=4,kernel=3,padding=1,groups=4)",
           "conv2d(in_channels=2,height=13,width=5,out_channels=3,kernel=7x3,padding=4x0,stride=3)",
           "depthwise_conv2d(batch=2,in_channels=5,height=7,width=9,kernel=3,padding=1)",
           "depthwise_conv2d(in_channels=3,height=9,width=6,kernel=5x2,stride=2,padding=2x1,dilation=1x2,multiplier=3)",
           "depthwise_conv2d(in_channels=3,height=4,width=4,kernel=2)",
           "matmul(m=5,n=19,k=7)",
           "matmul(m=1,n=33,k=17,bias=1)",
           "matmul(m=5,n=3,k=11,bias=1,transpose_b=1,constant=b)",
           "batch_matmul(batch=3,m=4,n=17,k=5)",
           "batch_matmul(m=4,n=5,k=6,transpose_b=1)",
       }) {
    INFO(text);
    CHECK(largest_error(text) < 1e-7);
  }
}

TEST_CASE("the evaluator is exact where the answer is known") {
  Task task = task_from_text("matmul(m=2,n=2,k=3,bias=1)").value();
  CHECK(evaluate(*make_compute(task), {{1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6}, {10, 20}}) ==
        std::vector<double>{32, 48, 59, 84});
  Reference right = reference(task, {{1, 2, 3, 4, -5, 6}, {1, 2, 3, 4, 5, 6}, {-10, 20}}).value();
  CHECK(right.output == std::vector<float>{12, 48, 9, 44});
  CHECK(right.terms == std::vector<float>{32, 48, 59, 84});
}

TEST_CASE("a convolution's reads outside the image are zero") {
  Task task = task_from_text("conv2d(in_channels=1,height=2,width=2,out_channels=1,kernel=3,padding=1)").value();
  std::vector<std::vector<float>> inputs = {{1, 2, 3, 4}, std::vector<float>(9, 1)};
  CHECK(evaluate(*make_compute(task), inputs) == std::vector<double>{10, 10, 10, 10});
}

TEST_CASE("integer division in indices rounds down") {
  Buffer out = make_buffer("out", kFloat32, {3}), in = make_buffer("in", kFloat32, {8});
  Var x = make_var("x");
  Expr shifted = floor_div(var_expr(x) - 1, int_imm(4)) + 1;  // 0 1 1
  Expr wrapped = floor_mod(var_expr(x) - 1, int_imm(4));      // 3 0 1
  Compute compute{{{in, false}}, {{out, {{x, 3}}, {}, load(in, {shifted * 4 + wrapped})}}, 0};
  CHECK(evaluate(compute, {{0, 1, 2, 3, 4, 5, 6, 7}}) == std::vector<double>{3, 4, 5});
}

}  // namespace farm
