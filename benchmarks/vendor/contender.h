// One way to compute a task, ours or a library's, ready to be timed against the others.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tensor/tensor.h"

namespace farm::vendor {

struct Contender {
  std::string library;                ///< "tunefarm", "onednn", "openblas"
  std::string variant;                ///< layout and what is prepacked: "blocked", "nchw", "im2col + sgemm"
  bool plain = false;                 ///< tensors enter and leave as plain row-major arrays
  double tolerance = 1e-5;            ///< of sum |terms|
  std::function<void()> run;          ///< the timed call
  std::function<void(float*)> fetch;  ///< the last output as a plain row-major array
};
using Contenders = std::vector<Contender>;

/// The numbers of a convolution or a matrix product, read from a task.
struct Problem {
  bool convolution = false;
  int64_t batch = 1;
  int64_t in_channels = 0, out_channels = 0, height = 0, width = 0, groups = 1;
  int64_t kernel[2] = {1, 1}, stride[2] = {1, 1}, padding[2] = {0, 0}, dilation[2] = {1, 1};  // height first
  int64_t m = 0, n = 0, k = 0;

  int64_t out_size(int dimension) const {
    int64_t in = dimension == 0 ? height : width;
    return (in + 2 * padding[dimension] - dilation[dimension] * (kernel[dimension] - 1) - 1) / stride[dimension] + 1;
  }
};
/// Nothing for what the libraries are not asked: fused bias, transposed operands.
Result<Problem> problem_of(const Task& task);

/// `inputs` are [data, weight] or [a, b], plain row-major; they outlive the contenders.
using Inputs = std::vector<std::vector<float>>;
void add_onednn(const Problem& problem, const Inputs& inputs, int threads, Contenders& contenders);
void add_openblas(const Problem& problem, const Inputs& inputs, int threads, Contenders& contenders);
std::string onednn_version();
std::string openblas_version();  ///< "" when it is not installed

}  // namespace farm::vendor
