#include "schedule/box.h"

#include <algorithm>

namespace farm {

void BoxFinder::add(const std::vector<Expr>& indices, const VarBounds& outer, const VarBounds& inner) {
  for (size_t d = 0; d < indices.size(); ++d) add_dim(dims_[d], split_range(indices[d], outer, inner));
}

void BoxFinder::add_dim(Dim& dim, std::optional<SplitRange> next) {
  if (dim.whole) return;
  if (!next) {
    dim.whole = true;
    return;
  }
  if (!dim.range) {
    dim.range = std::move(next);
    return;
  }
  if (!same_expr(to_expr(dim.range->base), to_expr(next->base))) {
    dim.whole = true;
    return;
  }
  dim.range->offset.lo = std::min(dim.range->offset.lo, next->offset.lo);
  dim.range->offset.hi = std::max(dim.range->offset.hi, next->offset.hi);
}

Box BoxFinder::box() const {
  Box box;
  for (size_t d = 0; d < dims_.size(); ++d) {
    const auto& dim = dims_[d];
    if (dim.whole || !dim.range) {
      box.min.push_back(int_imm(0));
      box.extent.push_back(buffer_->shape[d]);
      continue;
    }
    LinearForm start = dim.range->base;
    start.constant += dim.range->offset.lo;
    box.min.push_back(to_expr(start));
    box.extent.push_back(dim.range->offset.extent());
  }
  return box;
}

}  // namespace farm
