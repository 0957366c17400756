#include "tuner/family.h"

#include <algorithm>

namespace farm {
namespace {

constexpr size_t kSamples = 12;  // of each variant
// A decision matters when it moves scores by this share of what the most important one does.
constexpr double kLeastOfLargest = 0.5;

// max - min of the score over a decision's options, constraints set aside: it is the model that is asked.
double reach(const Decision& decision, size_t which, const Candidate& sample, const ScoreCandidates& score) {
  std::vector<Candidate> moved(decision.options.size(), sample);
  for (size_t i = 0; i < moved.size(); ++i) moved[i].choices[which].second = decision.options[i];
  const auto [low, high] = std::ranges::minmax(score(moved));
  return high - low;
}

std::vector<bool> find_what_matters(const Variant& variant, const std::vector<Candidate>& samples,
                                    const ScoreCandidates& score) {
  std::vector<double> reaches(variant.decisions.size(), 0.0);
  for (size_t i = 0; i < reaches.size(); ++i)
    for (const Candidate& sample : samples) reaches[i] += reach(variant.decisions[i], i, sample, score);
  const double largest = *std::ranges::max_element(reaches);
  std::vector<bool> matters;
  matters.reserve(reaches.size());
  for (const double reach : reaches) matters.push_back(reach > 0 && reach >= kLeastOfLargest * largest);
  return matters;
}

}  // namespace

Families::Families(const ScheduleSpace& space, const std::vector<Candidate>& samples, const ScoreCandidates& score) {
  for (const Variant& variant : space.variants()) {
    std::vector<Candidate> own;
    for (const Candidate& sample : samples)
      if (sample.variant == variant.name && own.size() < kSamples) own.push_back(sample);
    if (!own.empty() && !variant.decisions.empty()) matters_[variant.name] = find_what_matters(variant, own, score);
  }
}

std::string Families::of(const Candidate& candidate) const {
  std::string family = candidate.variant;
  const auto matters = matters_.find(candidate.variant);
  if (matters == matters_.end()) return family;
  for (size_t i = 0; i < candidate.choices.size(); ++i)
    if (matters->second[i])
      family += "," + candidate.choices[i].first + "=" + std::to_string(candidate.choices[i].second);
  return family;
}

}  // namespace farm
