#include "tensor/ops/product.h"

#include <algorithm>
#include <cmath>

#include "tensor/ops/panel.h"

namespace farm {

static void gather(const ProductShape& shape, const float* b, int64_t first, int64_t columns, float* panel) {
  for (int64_t k = 0; k < shape.k; ++k)
    for (int64_t j = 0; j < columns; ++j)
      panel[k * kPanelColumns + j] = shape.transpose_b ? b[(first + j) * shape.k + k] : b[k * shape.n + first + j];
}

void reference_product(const ProductShape& shape, const float* a, const float* b, const float* bias,
                       Reference& result) {
  std::vector<float> panel(size_t(shape.k * kPanelColumns));
  for (int64_t batch = 0; batch < shape.batch; ++batch)
    for (int64_t first = 0; first < shape.n; first += kPanelColumns) {
      int64_t columns = std::min<int64_t>(kPanelColumns, shape.n - first);
      gather(shape, b + batch * shape.k * shape.n, first, columns, panel.data());
      for (int64_t row = batch * shape.m; row < (batch + 1) * shape.m; ++row) {
        PanelSums sums = multiply_panel(a + row * shape.k, panel.data(), shape.k);
        for (int64_t j = 0; j < columns; ++j) {
          double added = bias ? double(bias[first + j]) : 0.0;
          size_t at = size_t(row * shape.n + first + j);
          result.output[at] = float(sums.sum[size_t(j)] + added);
          result.terms[at] = float(sums.terms[size_t(j)] + std::fabs(added));
        }
      }
    }
}

}  // namespace farm
