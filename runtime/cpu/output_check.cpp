#include "runtime/cpu/output_check.h"

#include <fmt/format.h>

#include <cmath>

#include "base/result.h"

namespace farm {

static constexpr double kNoNumber = 1e30;

static double error_of(float output, float expected, float terms) {
  double difference = std::fabs(static_cast<double>(output) - expected);
  if (difference == 0) return 0;
  double error = difference / static_cast<double>(terms);
  return error < kNoNumber ? error : kNoNumber;  // NaN and infinity, too
}

/// One pass that the compiler turns into vectors: almost every output is right.
static bool all_within(std::span<const float> output, std::span<const float> expected, std::span<const float> terms,
                       float tolerance) {
  int wrong = 0;
  for (size_t i = 0; i < output.size(); ++i) wrong |= !(std::fabs(output[i] - expected[i]) <= tolerance * terms[i]);
  return wrong == 0;
}

static double largest_error(std::span<const float> output, std::span<const float> expected,
                            std::span<const float> terms) {
  float largest = 0;
  for (size_t i = 0; i < output.size(); ++i) {
    float difference = std::fabs(output[i] - expected[i]);
    float error = difference == 0 ? 0 : difference / terms[i];
    largest = error > largest ? error : largest;
  }
  return largest;
}

OutputCheck check_output(std::span<const float> output, std::span<const float> expected, std::span<const float> terms,
                         double tolerance) {
  FARM_ASSERT(output.size() == expected.size() && output.size() == terms.size(), "output has ", output.size(),
              " elements, expected ", expected.size(), ", terms ", terms.size());
  if (all_within(output, expected, terms, static_cast<float>(tolerance)))
    return {true, largest_error(output, expected, terms), ""};
  OutputCheck check;
  size_t worst = 0, count = 0;
  for (size_t i = 0; i < output.size(); ++i) {
    double error = error_of(output[i], expected[i], terms[i]);
    count += error > tolerance;
    if (error > check.max_error) check.max_error = error, worst = i;
  }
  if (count == 0) return check;  // a hair's breadth, where single precision said no and double says yes
  check.right = false;
  check.detail = fmt::format("max error {:.2g} of sum|terms| at element {} ({} instead of {}), {} of {} elements wrong",
                             check.max_error, worst, output[worst], expected[worst], count, output.size());
  return check;
}

}  // namespace farm
