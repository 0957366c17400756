// Is the output right? The tolerance is in units of sum |terms|, element by element.
#pragma once
#include <span>
#include <string>

namespace farm {

struct OutputCheck {
  bool right = true;
  double max_error = 0;  ///< largest |error| / terms; 1e30 where it is no number
  std::string detail;    ///< "max error 3.1e-2 of sum|terms| at element 17: 1.5 instead of 2.25", empty when right
};

/// The three spans are of one size. A NaN is always wrong; where `terms` is 0 the output must be exactly `expected`.
OutputCheck check_output(std::span<const float> output, std::span<const float> expected, std::span<const float> terms,
                         double tolerance);

}  // namespace farm
