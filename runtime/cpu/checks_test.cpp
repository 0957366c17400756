#include <cmath>
#include <limits>
#include <vector>

#include "runtime/cpu/guarded_buffer.h"
#include "runtime/cpu/output_check.h"
#include "testing.h"

using namespace farm;

TEST_CASE("an output within the tolerance of its terms is right, and the largest error is told") {
  std::vector<float> expected = {1, -2, 0, 100}, terms = {10, 10, 10, 1000}, output = expected;
  output[3] += 0.001f;
  auto check = check_output(output, expected, terms, 1e-5);
  CHECK(check.right);
  CHECK(check.max_error == Approx(1e-6).epsilon(0.05));
  CHECK(check.detail.empty());
}

TEST_CASE("an element beyond the tolerance is named") {
  std::vector<float> expected = {1, 2, 3}, terms = {1, 2, 3}, output = {1, 2.5, 3};
  auto check = check_output(output, expected, terms, 1e-5);
  CHECK_FALSE(check.right);
  CHECK(check.max_error == Approx(0.25));
  CHECK(check.detail == "max error 0.25 of sum|terms| at element 1 (2.5 instead of 2), 1 of 3 elements wrong");
}

TEST_CASE("NaN, infinity and anything where nothing was to be summed are wrong") {
  float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  std::vector<float> expected = {0, 1}, terms = {0, 1};
  CHECK(check_output(expected, expected, terms, 1e-5).right);
  for (auto output : {std::vector<float>{nan, 1}, {infinity, 1}, {1e-20f, 1}, {0, nan}, {0, -infinity}}) {
    auto check = check_output(output, expected, terms, 1e-5);
    CHECK_FALSE(check.right);
    CHECK(std::isfinite(check.max_error));
  }
}

TEST_CASE("a guarded buffer is aligned, poisoned to NaN and keeps its canaries when it is used rightly") {
  for (size_t bytes : {0, 4, 64, 100, 4096, 12345}) {
    auto buffer = *GuardedBuffer::make(bytes, "output");
    CHECK(reinterpret_cast<uintptr_t>(buffer.data()) % GuardedBuffer::kAlignment == 0);
    buffer.poison();
    for (float value : buffer.floats()) CHECK(std::isnan(value));
    CHECK_FALSE(buffer.broken_canary());
  }
}

TEST_CASE("a byte written beside a guarded buffer is noticed on either side") {
  auto buffer = *GuardedBuffer::make(100, "output");
  buffer.data()[100] = std::byte{0};
  CHECK(buffer.broken_canary() == "wrote 1 bytes after the end of output");
  auto other = *GuardedBuffer::make(100, "workspace");
  other.data()[-1] = std::byte{0};
  CHECK(other.broken_canary() == "wrote 1 bytes before the start of workspace");
}

TEST_CASE("a guarded buffer keeps addresses, contents, canaries and protection when its pages change") {
  auto buffer = GuardedBuffer::make(10000, "output");
  REQUIRE(buffer);
  buffer->floats()[7] = 7;
  std::byte* data = buffer->data();
  buffer->protect_read_only();
  REQUIRE(buffer->change_pages());
  CHECK(buffer->data() == data);
  CHECK(buffer->floats()[7] == 7);
  CHECK_FALSE(buffer->broken_canary());
  char text[GuardedBuffer::kWhereBytes];
  CHECK(buffer->where(reinterpret_cast<uintptr_t>(data) - 5000, text));
  CHECK(buffer->where(reinterpret_cast<uintptr_t>(data), text));
}

TEST_CASE("an address in a guard page is told apart from one elsewhere") {
  auto buffer = *GuardedBuffer::make(100, "output");
  auto data = reinterpret_cast<uintptr_t>(buffer.data());
  char text[GuardedBuffer::kWhereBytes];
  REQUIRE(buffer.where(data + 128, text));
  CHECK(std::string(text) == "28 bytes after the end of output");
  CHECK_FALSE(buffer.where(data, text));
  CHECK_FALSE(buffer.where(0, text));
  buffer.protect_read_only();
  REQUIRE(buffer.where(data, text));
  CHECK(std::string(text) == "inside the read-only output");
}
