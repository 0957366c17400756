// For tests: the kernels of testdata/ and requests to measure them.
#pragma once
#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "runtime/runtime.h"

namespace farm {

inline std::vector<std::byte> test_kernel_file(const std::string& name) {
  std::ifstream file(std::string(FARM_TEST_KERNELS) + "/" + name + ".so", std::ios::binary);
  std::vector<char> chars{std::istreambuf_iterator<char>(file), {}};
  auto bytes = std::as_bytes(std::span(chars));
  return {bytes.begin(), bytes.end()};
}

/// out[i] = a[i] * b[i], b constant, by one of the functions of testdata/kernels.c.
inline Artifact test_artifact(const std::string& run_symbol, int threads = 1) {
  constexpr int64_t kElements = 1003;
  Artifact artifact;
  artifact.isa = isa_family(describe_host().isa);
  artifact.inputs = artifact.constants = {{kFloat32, {kElements}}};
  artifact.output = {kFloat32, {kElements}};
  artifact.packed_bytes = artifact.output.bytes();
  artifact.workspace_bytes = 100;
  artifact.threads = threads;
  artifact.flops = 1003;
  artifact.run_symbol = run_symbol;
  artifact.blob = test_kernel_file("kernels");
  return artifact;
}

/// What a request for such artifacts needs: the right output, under its hash.
struct TestTask {
  std::vector<float> expected, terms;
  uint64_t seed;

  explicit TestTask(uint64_t seed = 1) : seed(seed) {
    auto inputs = make_inputs(seed, {{kFloat32, {1003}}, {kFloat32, {1003}}});
    for (size_t i = 0; i < 1003; ++i) expected.push_back(inputs[0][i] * inputs[1][i]);
    for (float value : expected) terms.push_back(std::abs(value));
  }
  static Hash hash(const std::vector<float>& values) { return hash_bytes(std::as_bytes(std::span(values))); }

  BlobSource blobs() const {
    return [this](const Hash& wanted) -> std::span<const std::byte> {
      for (const auto* values : {&expected, &terms})
        if (hash(*values) == wanted) return std::as_bytes(std::span(*values));
      return {};
    };
  }
  MeasureRequest request(std::vector<Artifact> artifacts) const {
    MeasureRequest request;
    request.artifacts = std::move(artifacts);
    request.inputs = {seed, hash(expected), hash(terms), 1e-5};
    request.policy.timeout = std::chrono::seconds(10);
    request.policy.sample = std::chrono::microseconds(200);
    return request;
  }
};

}  // namespace farm
