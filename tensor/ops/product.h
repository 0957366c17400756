// Private to the room `tensor`: what matmul and batch_matmul share.
#pragma once
#include "tensor/op.h"

namespace farm {

/// out[i,j] of `batch` products of a [m,k] and b [k,n] (or [n,k]); `bias` [n] may be null.
struct ProductShape {
  int64_t batch, m, n, k;
  bool transpose_b;
};
void reference_product(const ProductShape& shape, const float* a, const float* b, const float* bias, Reference& result);

}  // namespace farm
