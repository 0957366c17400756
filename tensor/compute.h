// A compute says what is computed, never how: a graph of stages over index notation.
#pragma once
#include <string>
#include <vector>

#include "tensor/expr.h"

namespace farm {

struct Axis {
  Var var;
  int64_t extent = 1;
};

/// output[axes...] = body                         when there are no reduce axes
/// output[axes...] = sum over reduce axes of body otherwise (starting from 0)
struct Stage {
  Buffer output;
  std::vector<Axis> axes;
  std::vector<Axis> reduce;
  Expr body;
};

struct Operand {
  Buffer buffer;
  bool constant = false;  ///< known before the first call (weights): may be prepacked outside what is timed
};

struct Compute {
  std::vector<Operand> inputs;
  std::vector<Stage> stages;  ///< producers first; the last one's output is the result
  double flops = 0;           ///< nominal: multiply and add count as two, products with padding included

  const Buffer& output() const { return stages.back().output; }
};

std::string to_string(const Compute& compute);

/// Slow and true: evaluates any compute in double, stage by stage. `inputs` hold one row-major array an operand.
std::vector<double> evaluate(const Compute& compute, const std::vector<std::vector<float>>& inputs);

}  // namespace farm
