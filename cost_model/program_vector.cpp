#include "cost_model/program_vector.h"

#include <algorithm>
#include <cmath>

#include "cost_model/features.h"

namespace farm {

std::vector<float> program_vector(const FeatureRows& rows, size_t width) {
  std::vector<float> all(2 * width, 0.0f);
  if (rows.empty()) return all;
  const auto heaviest = std::ranges::max_element(rows, {}, [](const auto& row) { return row[kWorkColumn]; });
  FARM_ASSERT(heaviest->size() == width, "a row of ", heaviest->size(), " columns among rows of ", width);
  std::ranges::copy(*heaviest, all.begin());
  // Columns are logarithms of 1 + x: they are added as x, so that two equal stores count as one of twice the size.
  for (auto row = rows.begin(); row != rows.end(); ++row)
    for (size_t i = 0; row != heaviest && i < width; ++i) all[width + i] += std::exp2((*row)[i]) - 1;
  for (size_t i = width; i < 2 * width; ++i) all[i] = std::log2(1 + std::max(0.0f, all[i]));
  return all;
}

}  // namespace farm
