// The columns of a store's features. Sizes and counts are log2(1 + x); shares and ratios stay as they are.
#pragma once
#include "cost_model/cost_model.h"
#include "cost_model/store_facts.h"

namespace farm {

/// Column 0 of a row: log2(1 + work), the weight by which a program's stores are compared.
inline constexpr size_t kWorkColumn = 0;

/// The row of one store.
std::vector<float> feature_row(const StoreFacts& facts, const Target& target, int threads);

}  // namespace farm
