#include "tuner/runner.h"

namespace farm {

static std::vector<std::byte> bytes_of(const std::vector<float>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

Result<ExpectedOutput> expect_output(const Task& task, uint64_t seed) {
  FARM_TRY(const TaskSignature shape, signature(task));
  // A task lists constant operands last, which is the order in which a device makes inputs.
  std::vector<TensorType> types;
  for (const TaskTensor& input : shape.inputs) types.push_back(input.type);
  FARM_TRY(const Reference right, reference(task, make_inputs(seed, types)));
  ExpectedOutput expected{.inputs = {.seed = seed}, .values = bytes_of(right.output), .terms = bytes_of(right.terms)};
  expected.inputs.expected = hash_bytes(expected.values);
  expected.inputs.terms = hash_bytes(expected.terms);
  return expected;
}

BlobSource ExpectedOutput::blobs() const {
  return [this](const Hash& hash) -> std::span<const std::byte> {
    if (hash == inputs.expected) return values;
    if (hash == inputs.terms) return terms;
    return {};
  };
}

}  // namespace farm
