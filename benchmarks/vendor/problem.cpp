#include <map>

#include "base/text.h"
#include "benchmarks/vendor/contender.h"

namespace farm::vendor {
namespace {

// "3" or "3x5", height first.
void read_pair(const std::map<std::string, std::string>& attributes, const std::string& key, int64_t (&pair)[2]) {
  auto found = attributes.find(key);
  if (found == attributes.end()) return;
  auto parts = split(found->second, 'x');
  pair[0] = *parse_int(parts.front());
  pair[1] = *parse_int(parts.back());
}

int64_t read_count(const std::map<std::string, std::string>& attributes, const std::string& key, int64_t fallback) {
  auto found = attributes.find(key);
  return found == attributes.end() ? fallback : *parse_int(found->second);
}

}  // namespace

Result<Problem> problem_of(const Task& task) {
  std::map<std::string, std::string> attributes(task.attributes.begin(), task.attributes.end());
  if (attributes.contains("bias") || attributes.contains("transpose_b")) {
    return fail(ErrorCode::InvalidArgument, task.text(), " has no counterpart in the libraries compared with");
  }
  Problem problem;
  problem.batch = read_count(attributes, "batch", 1);
  problem.convolution = task.op == "conv2d" || task.op == "depthwise_conv2d";
  if (!problem.convolution) {
    problem.m = read_count(attributes, "m", 1);
    problem.n = read_count(attributes, "n", 1);
    problem.k = read_count(attributes, "k", 1);
    return problem;
  }
  problem.in_channels = read_count(attributes, "in_channels", 1);
  problem.height = read_count(attributes, "height", 1);
  problem.width = read_count(attributes, "width", 1);
  bool depthwise = task.op == "depthwise_conv2d";
  problem.out_channels = read_count(attributes, "out_channels",
                                    problem.in_channels * (depthwise ? read_count(attributes, "multiplier", 1) : 1));
  problem.groups = depthwise ? problem.in_channels : read_count(attributes, "groups", 1);
  read_pair(attributes, "kernel", problem.kernel);
  read_pair(attributes, "stride", problem.stride);
  read_pair(attributes, "padding", problem.padding);
  read_pair(attributes, "dilation", problem.dilation);
  return problem;
}

}  // namespace farm::vendor
