// A task is one operator on one shape: the unit that is tuned, stored and compiled.
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "tensor/compute.h"

namespace farm {

/// Canonical text: the op, then the attributes in the op's own order, those at their default left out:
///   conv2d(in_channels=64,height=56,width=56,out_channels=64,kernel=3,padding=1)
/// so that an attribute added later changes no old hash. Windows are "3" when square, else "3x5", height first.
struct Task {
  std::string op;
  std::vector<std::pair<std::string, std::string>> attributes;  ///< canonical order and spelling, defaults left out

  std::string text() const;
  Hash hash() const { return hash_text(text()); }
  bool operator==(const Task&) const = default;
};

/// `shape` as on the command line: "in_channels=64,height=56,...". Values that are given are checked before missing
/// ones are asked for; errors name the key, the value and what is allowed.
Result<Task> make_task(std::string_view op, std::string_view shape);
/// The inverse of Task::text().
Result<Task> task_from_text(std::string_view text);

/// The shape that an op takes when none is given: "conv2d" is ResNet-18's 3x3 56x56 64>64 layer.
Result<Task> default_task(std::string_view op);
/// What people call that shape: "ResNet-18's 3x3 convolution, 56x56, 64 to 64 channels".
Result<std::string> default_title(std::string_view op);

/// What the task computes. Inputs that are constant come after those that are not.
Result<Compute> make_compute(const Task& task);

/// A plain double loop nest, independent of Compute: what is right. `terms` is sum |terms| of each output element,
/// the unit of the tolerance (1e-5 of it for float32). `inputs`: one row-major array an operand, in the compute's
/// order.
struct Reference {
  std::vector<float> output;
  std::vector<float> terms;
};
Result<Reference> reference(const Task& task, const std::vector<std::vector<float>>& inputs);

/// The operators.
std::vector<std::string> op_names();
/// Keys of an op's --shape in order.
std::vector<std::string> shape_keys(std::string_view op);

// The catalogue of real layers -------------------------------------------------------------------------------------

struct Layer {
  std::string name;  ///< "resnet18/conv2_x"
  Task task;
  int occurrences = 1;
};
struct Network {
  std::string name;           ///< "resnet18"
  std::string title;          ///< "ResNet-18, 224x224, batch 1"
  std::vector<Layer> layers;  ///< distinct tasks
};
const std::vector<Network>& catalogue();

/// The names that --task takes: operators and networks.
std::vector<std::string> task_names();

/// Everything that --task and --shape can mean: a network ("resnet18"), one of its layers ("resnet18/conv2_x"), an
/// operator with a shape or with its default one, or a task's own text. Fails with the nearest names.
Result<Network> resolve_tasks(std::string_view name, std::optional<std::string_view> shape);

/// A file of tasks, one a line: "4 x conv2d(...)" or "conv2d(...)"; # starts a comment. Errors say "name:line: ...".
Result<Network> network_from_lines(std::string name, std::string_view text);

/// A tensor of the task as the outside world sees it.
struct TaskTensor {
  std::string name;
  TensorType type;
  bool constant = false;
};
struct TaskSignature {
  std::vector<TaskTensor> inputs;
  TaskTensor output;
  double flops = 0;
};
Result<TaskSignature> signature(const Task& task);

}  // namespace farm
