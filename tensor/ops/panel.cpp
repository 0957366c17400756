#include "tensor/ops/panel.h"

#include <cmath>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define FARM_WIDE __attribute__((target_clones("avx2", "default"), optimize("O3")))
#else
#define FARM_WIDE
#endif

namespace farm {

FARM_WIDE PanelSums multiply_panel(const float* row, const float* panel, int64_t depth) {
  double sum[kPanelColumns] = {}, terms[kPanelColumns] = {};
  for (int64_t d = 0; d < depth; ++d) {
    double factor = row[d];
    const float* at = panel + d * kPanelColumns;
    for (int j = 0; j < kPanelColumns; ++j) {
      double product = factor * static_cast<double>(at[j]);
      sum[j] += product;
      terms[j] += std::fabs(product);
    }
  }
  PanelSums sums;
  for (int j = 0; j < kPanelColumns; ++j) {
    sums.sum[j] = sum[j];
    sums.terms[j] = terms[j];
  }
  return sums;
}

}  // namespace farm
