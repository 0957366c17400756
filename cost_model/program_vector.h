// A program has several stores, a tree model wants one vector: the heaviest store's row, then the sum over the others.
#pragma once
#include <vector>

#include "cost_model/cost_model.h"

namespace farm {

/// Width 2 * `width`, the width of a row; zeros for a program without rows.
///
/// Chosen over the sum of one prediction a store ("pack-sum"): the tuned nest has nearly all of the work, so its row
/// alone ranks well, and the model keeps XGBoost's own objectives and one row a program to fit.
std::vector<float> program_vector(const FeatureRows& rows, size_t width);

}  // namespace farm
