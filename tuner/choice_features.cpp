#include "tuner/choice_features.h"

#include <cmath>
#include <cstdlib>

namespace farm {
namespace {

// A decision on a size; a yes or no has no products.
bool is_size(const Decision& decision) { return decision.options.size() > 2; }

void add_variant(const Variant& variant, const Candidate& candidate, std::vector<float>& row) {
  std::vector<float> sizes;
  for (size_t i = 0; i < variant.decisions.size(); ++i) {
    row.push_back(std::log2(1.0f + static_cast<float>(std::abs(candidate.choices[i].second))));
    if (is_size(variant.decisions[i]))
      sizes.push_back(std::log2(std::max(0.5f, static_cast<float>(candidate.choices[i].second))));
  }
  for (size_t i = 0; i < sizes.size(); ++i)
    for (size_t j = i + 1; j < sizes.size(); ++j) row.push_back(sizes[i] + sizes[j]);
}

size_t columns_of(const Variant& variant) {
  size_t sizes = 0;
  for (const Decision& decision : variant.decisions) sizes += is_size(decision);
  return variant.decisions.size() + sizes * (sizes - 1) / 2;
}

}  // namespace

FeatureRows choice_features(const ScheduleSpace& space, const Candidate& candidate) {
  std::vector<float> row{0.0f};  // no row weighs more than another: there is one
  for (const Variant& variant : space.variants()) {
    row.push_back(variant.name == candidate.variant ? 1.0f : 0.0f);
    if (row.back() == 1)
      add_variant(variant, candidate, row);
    else
      row.resize(row.size() + columns_of(variant), -1.0f);
  }
  return {row};
}

}  // namespace farm
