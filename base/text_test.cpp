#include "base/text.h"

#include "testing.h"

namespace farm {

TEST_CASE("a mistyped word finds its nearest names, and nonsense finds none") {
  std::vector<std::string> names{"conv2d", "depthwise_conv2d", "matmul", "batch_matmul"};
  CHECK(nearest("conv2", names).front() == "conv2d");
  CHECK(nearest("matmull", names).front() == "matmul");
  CHECK(nearest("zzz", names).empty());
}

TEST_CASE("durations are read with their units and refused without sense") {
  using namespace std::chrono_literals;
  CHECK(parse_duration("10m") == 10min);
  CHECK(parse_duration("1h30m") == 90min);
  CHECK(parse_duration("500ms") == 500ms);
  CHECK(parse_duration("20") == 20s);
  CHECK_FALSE(parse_duration("10x"));
  CHECK_FALSE(parse_duration(""));
  CHECK_FALSE(parse_duration("-5s"));
}

TEST_CASE("splitting keeps empty pieces in the middle and joining is its inverse") {
  CHECK(split("a,,b", ',') == std::vector<std::string>{"a", "", "b"});
  CHECK(split("", ',').empty());
  CHECK(join(split("a,,b", ','), ",") == "a,,b");
}

TEST_CASE("control characters are shown, not sent to the terminal") { CHECK(printable("a\x1b[2J") == "a\\x1b[2J"); }

}  // namespace farm
