#include "runtime/cpu/physics.h"

#include "testing.h"

namespace farm {
namespace {

constexpr double kGoldenFlops = 1e6, kGoldenBest = 10'000;  // a peak of 100 GFLOP/s

Artifact artifact_of(double flops) {
  Artifact artifact;
  artifact.inputs = {{kFloat32, {1000}}};
  artifact.output = {kFloat32, {1000}};
  artifact.flops = flops;
  return artifact;
}

std::optional<std::string> doubt(const Artifact& artifact, const std::vector<Sample>& samples) {
  return faster_than_physics(artifact, samples, kGoldenBest, kGoldenFlops);
}

}  // namespace

TEST_CASE("what the machine can do is believed, eight times the peak is not") {
  CHECK_FALSE(doubt(artifact_of(1e5), {{1000, kGoldenBest}}));
  CHECK_FALSE(doubt(artifact_of(7.9e5), {{1000, kGoldenBest}}));
  CHECK(doubt(artifact_of(8.1e5), {{1000, kGoldenBest}}) == "faster than physics: 810 GFLOP/s when the peak is 100");
  CHECK(doubt(artifact_of(8.1e5), {{5000, kGoldenBest}, {1000, kGoldenBest}}));  // once is enough
}

TEST_CASE("nobody reads two terabytes a second") {
  CHECK_FALSE(doubt(artifact_of(0), {{4.1, kGoldenBest}}));
  CHECK(doubt(artifact_of(0), {{3.2, kGoldenBest}}) == "faster than physics: its inputs and output at 2500 GB/s");
}

TEST_CASE("a golden block that was disturbed accuses nobody") {
  CHECK_FALSE(doubt(artifact_of(8e4), {{1000, 100 * kGoldenBest}}));
  // Of a device that never showed a block, the fastest one of the measurement counts.
  const std::vector<Sample> one_disturbed{{1000, 100 * kGoldenBest}, {1000, kGoldenBest}}, without{{1000, 0}};
  CHECK_FALSE(faster_than_physics(artifact_of(8e4), one_disturbed, 0, kGoldenFlops));
  CHECK(faster_than_physics(artifact_of(8.1e5), one_disturbed, 0, kGoldenFlops));
  CHECK_FALSE(faster_than_physics(artifact_of(8.1e5), without, 0, kGoldenFlops));
}

}  // namespace farm
