// What --task and --shape mean, to every program that takes them.
#pragma once
#include <optional>
#include <string>

#include "base/result.h"
#include "tensor/tensor.h"

namespace farm {

/// A network, one of its layers, an operator with or without a shape, a task's own text, or a file of tasks. NotFound
/// for a path without a file; otherwise InvalidArgument with the nearest names.
Result<Network> tasks_from_argument(const std::string& task, const std::optional<std::string>& shape);

/// The shape to take for `--constant OPERAND` beside `--shape`: an operand that is known beforehand and packed outside
/// the timed run is part of the task. Without a shape it is the operator's default one.
Result<std::optional<std::string>> shape_with_constant(const std::string& task, const std::optional<std::string>& shape,
                                                       const std::optional<std::string>& constant);

}  // namespace farm
