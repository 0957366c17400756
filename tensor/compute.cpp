#include "tensor/compute.h"

namespace farm {

static std::string axis_list(const std::vector<Axis>& axes) {
  std::string text;
  for (const auto& axis : axes) text += (text.empty() ? "" : ", ") + axis.var->name + " < " + std::to_string(axis.extent);
  return text;
}

std::string to_string(const Compute& compute) {
  std::string text;
  for (const auto& input : compute.inputs)
    text += (input.constant ? "constant " : "input ") + input.buffer->name + ": " +
            to_string(TensorType{input.buffer->dtype, input.buffer->shape}) + "\n";
  for (const auto& stage : compute.stages) {
    text += stage.output->name + "[" + axis_list(stage.axes) + "] = ";
    if (!stage.reduce.empty()) text += "sum(" + axis_list(stage.reduce) + ") ";
    text += to_string(stage.body) + "\n";
  }
  return text;
}

}  // namespace farm
