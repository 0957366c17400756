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

TEST_CASE("a latency has four digits in the unit that suits it, whatever rounding does") {
  CHECK(format_latency(0.25) == "0.250 ns");
  CHECK(format_latency(48.25) == "48.25 ns");
  CHECK(format_latency(999.94) == "999.9 ns");
  CHECK(format_latency(999.96) == "1.000 us");
  CHECK(format_latency(9'999.6) == "10.00 us");
  CHECK(format_latency(549'000) == "549.0 us");
  CHECK(format_latency(12'345'678) == "12.35 ms");
  CHECK(format_latency(1.5e9) == "1.500 s");
  CHECK(format_latency(4e12) == "4000.0 s");
}

TEST_CASE("splitting keeps empty pieces in the middle and joining is its inverse") {
  CHECK(split("a,,b", ',') == std::vector<std::string>{"a", "", "b"});
  CHECK(split("", ',').empty());
  CHECK(join(split("a,,b", ','), ",") == "a,,b");
}

TEST_CASE("control characters are shown, not sent to the terminal") { CHECK(printable("a\x1b[2J") == "a\\x1b[2J"); }

TEST_CASE("a text becomes a JSON string, whatever its bytes are") {
  CHECK(json_quoted("a \"b\" \\ \n\x01") == "\"a \\\"b\\\" \\\\ \\u000a\\u0001\"");
  for (const char* good : {"", "caf\xc3\xa9", "\xe2\x82\xac", "\xed\x9f\xbf", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"})
    CHECK(json_quoted(good) == '"' + std::string(good) + '"');
  // A lone byte, one cut short, overlong ones, a surrogate, one beyond the last.
  for (const char* bad :
       {"\x80", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80"}) {
    std::string quoted = json_quoted(std::string("x") + bad + "y");
    CHECK(quoted.starts_with("\"x\\ufffd"));
    CHECK(quoted.ends_with("y\""));
  }
}

}  // namespace farm
