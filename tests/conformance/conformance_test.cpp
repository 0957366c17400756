// The fast tier tries 200 pairs, the slow one 2,000; a failure names everything that is needed to see it again.
#include "testing.h"
#include "tests/conformance/random_pairs.h"

namespace farm {
namespace {

void check_pairs(const char* op, size_t pairs, uint64_t seed) {
  auto device = make_cpu_device();
  REQUIRE(device);
  auto report = run_random_pairs(**device, {.seed = seed, .pairs = pairs, .ops = {op}, .progress = {}});
  REQUIRE(report);
  CHECK(report->pairs == pairs);
  for (const WrongPair& wrong : report->wrong) FAIL_CHECK(to_string(wrong) << " (seed " << seed << ")");
}

/// One on which everything goes wrong.
class BrokenDevice final : public Device {
 public:
  const Target& target() const override { return target_; }
  Result<MeasureReply> measure(const MeasureRequest& request, const BlobSource&) override {
    Measurement wrong;
    wrong.outcome = Outcome::WrongResult;
    wrong.detail = "max error 1";
    return MeasureReply{std::vector(request.artifacts.size(), wrong)};
  }

 private:
  Target target_ = *target_from_name("x86-64-v3");
};

}  // namespace

TEST_CASE("a device that computes wrong numbers is found out") {
  BrokenDevice device;
  auto report = run_random_pairs(device, {.seed = 1, .pairs = 6, .ops = {"matmul"}, .progress = {}});
  REQUIRE(report);
  CHECK(report->pairs == 6);
  CHECK(report->wrong.size() == 6);
  CHECK(to_string(report->wrong[0]).find(": wrong_result: max error 1") != std::string::npos);
}

TEST_CASE("random conv2d candidates compute what the reference computes") { check_pairs("conv2d", 80, 1); }
TEST_CASE("random depthwise_conv2d candidates compute what the reference computes") {
  check_pairs("depthwise_conv2d", 40, 2);
}
TEST_CASE("random matmul candidates compute what the reference computes") { check_pairs("matmul", 50, 3); }
TEST_CASE("random batch_matmul candidates compute what the reference computes") { check_pairs("batch_matmul", 30, 4); }

TEST_CASE("many random conv2d candidates compute what the reference computes", "[slow]") {
  check_pairs("conv2d", 800, 11);
}
TEST_CASE("many random depthwise_conv2d candidates compute what the reference computes", "[slow]") {
  check_pairs("depthwise_conv2d", 400, 12);
}
TEST_CASE("many random matmul candidates compute what the reference computes", "[slow]") {
  check_pairs("matmul", 500, 13);
}
TEST_CASE("many random batch_matmul candidates compute what the reference computes", "[slow]") {
  check_pairs("batch_matmul", 300, 14);
}

}  // namespace farm
