#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "runtime/encoding.h"
#include "runtime/runtime.h"
#include "testing.h"

using namespace farm;

static Artifact sample_artifact() {
  Artifact artifact;
  artifact.isa = "x86-64-v3";
  artifact.features = {"avx2", "fma"};
  artifact.inputs = {{kFloat32, {1, 64, 56, 56}}};
  artifact.constants = {{kFloat32, {64, 64, 3, 3}}};
  artifact.output = {kFloat32, {1, 64, 56, 56}};
  artifact.packed_bytes = 147456;
  artifact.threads = 2;
  artifact.flops = 231211008;
  artifact.blob = {std::byte{1}, std::byte{2}};
  return artifact;
}

static Target sample_target() {
  Target target = *target_from_name("znver3");
  target.peak_gflops_core = 103.5;
  target.emulated = true;
  return target;
}

static MeasureReply sample_reply() {
  Measurement measurement;
  measurement.outcome = Outcome::Crashed;
  measurement.detail = "signal 11 (SIGSEGV)";
  measurement.samples_ns = {1, 2, 3};
  measurement.cores = {0, 1};
  measurement.latency_ns = 1.5;
  return {{measurement, Measurement{}}, 207};
}

static MeasureRequest sample_request() {
  MeasureRequest request;
  request.artifacts = {sample_artifact(), sample_artifact()};
  request.inputs = {7, hash_text("expected"), hash_text("terms"), 1e-5};
  request.best_ns = 12;
  request.interleave = true;
  return request;
}

TEST_CASE("every value is the same after its binary form") {
  CHECK(*from_bytes<Artifact>(to_bytes(sample_artifact()), "artifact") == sample_artifact());
  CHECK(*from_bytes<Target>(to_bytes(sample_target()), "target") == sample_target());
  MeasurePolicy policy;
  policy.cold = true;
  CHECK(*from_bytes<MeasurePolicy>(to_bytes(policy), "policy") == policy);
  auto request = from_bytes<MeasureRequest>(to_bytes(sample_request()), "request");
  REQUIRE(request);
  CHECK(request->artifacts == sample_request().artifacts);
  CHECK(request->inputs == sample_request().inputs);
  CHECK(request->interleave);
  auto reply = from_bytes<MeasureReply>(to_bytes(sample_reply()), "reply");
  REQUIRE(reply);
  CHECK(reply->measurements == sample_reply().measurements);
  CHECK(reply->peak_gflops == 207);
}

template <class T>
static void check_cut_and_damaged(const T& value) {
  auto bytes = to_bytes(value);
  for (size_t size = 0; size < bytes.size(); ++size) CHECK_FALSE(from_bytes<T>(std::span(bytes).first(size), "value"));
  Rng rng(1);
  for (int round = 0; round < 2000; ++round) {
    auto damaged = bytes;
    for (int i = 0; i < 3; ++i) damaged[rng.below(damaged.size())] = static_cast<std::byte>(rng.next());
    (void)from_bytes<T>(damaged, "value");  // any answer is right, so long as there is one
  }
}

TEST_CASE("a binary form that is cut short is refused, a damaged one does no harm") {
  check_cut_and_damaged(sample_artifact());
  check_cut_and_damaged(sample_target());
  check_cut_and_damaged(sample_request());
  check_cut_and_damaged(sample_reply());
}

TEST_CASE("sizes that are negative or overflow are refused") {
  Artifact artifact = sample_artifact();
  artifact.workspace_bytes = -1;
  CHECK_FALSE(from_bytes<Artifact>(to_bytes(artifact), "artifact"));
  artifact = sample_artifact();
  artifact.output.shape = {int64_t{1} << 30, int64_t{1} << 30, 16};
  CHECK(from_bytes<Artifact>(to_bytes(artifact), "artifact").error().code == ErrorCode::Corrupt);
}

TEST_CASE("a policy that would never end or never begin is refused") {
  MeasurePolicy policy;
  REQUIRE(from_bytes<MeasurePolicy>(to_bytes(policy), "policy"));
  policy.timeout = std::chrono::hours(24);
  CHECK_FALSE(from_bytes<MeasurePolicy>(to_bytes(policy), "policy"));
  policy = {};
  policy.sample = {};
  CHECK_FALSE(from_bytes<MeasurePolicy>(to_bytes(policy), "policy"));
  policy = {};
  policy.max_samples = policy.min_samples - 1;
  CHECK_FALSE(from_bytes<MeasurePolicy>(to_bytes(policy), "policy"));
}

TEST_CASE("equal artifacts have equal hashes, other ones do not") {
  Artifact other = sample_artifact();
  CHECK(artifact_hash(other) == artifact_hash(sample_artifact()));
  other.blob.back() = std::byte{3};
  CHECK(artifact_hash(other) != artifact_hash(sample_artifact()));
}

TEST_CASE("an outcome's word leads back to it, an unknown word to nothing") {
  for (int i = 0; i <= static_cast<int>(Outcome::Unstable); ++i)
    CHECK(outcome_from_string(to_string(static_cast<Outcome>(i))) == static_cast<Outcome>(i));
  CHECK(to_string(Outcome::OutOfBounds) == "out_of_bounds");
  CHECK_FALSE(outcome_from_string("fine"));
}

TEST_CASE("a policy's text tells apart what must not be compared") {
  MeasurePolicy warm, cold, longer;
  cold.cold = true;
  longer.budget *= 2;
  CHECK(warm.text() == "warm statistic=min budget=40ms sample=1ms min=7 max=200 interval=0.01 cut=2");
  CHECK(warm.text() != cold.text());
  CHECK(warm.text() != longer.text());
}

TEST_CASE("inputs are the same for a seed, lie between -1 and 1, and no two tensors are equal") {
  std::vector<TensorType> types = {{kFloat32, {3, 333}}, {kFloat32, {3, 333}}};
  auto inputs = make_inputs(42, types);
  CHECK(inputs == make_inputs(42, types));
  CHECK(inputs != make_inputs(43, types));
  CHECK(inputs[0] != inputs[1]);
  auto [low, high] = std::ranges::minmax(inputs[0]);
  CHECK((low >= -1 && low < -0.9));
  CHECK((high < 1 && high > 0.9));
  // Values that must never change: stored records depend on them.
  CHECK(make_inputs(42, {{kFloat32, {3}}})[0] == std::vector{0x1.52ca1p-3f, 0x1.4a5e88p-2f, -0x1.2c179p-1f});
}
