#include "tuner/moves.h"

#include <algorithm>
#include <cstdlib>

namespace farm {
namespace {

constexpr int kTries = 8;
constexpr double kChangeVariant = 0.04;
constexpr double kStepToNeighbour = 0.7;
constexpr double kSecondChange = 0.3;

size_t index_of(const Decision& decision, int64_t option) {
  const auto at = std::ranges::find(decision.options, option);
  FARM_ASSERT(at != decision.options.end(), "decision ", decision.name, " has no option ", option);
  return static_cast<size_t>(at - decision.options.begin());
}

// The option next to the chosen one, up or down; another one where there is no such.
size_t step(const Decision& decision, size_t from, Rng& rng) {
  const size_t last = decision.options.size() - 1;
  if (!rng.chance(kStepToNeighbour)) return (from + 1 + rng.below(last)) % (last + 1);
  if (from == 0) return 1;
  if (from == last) return last - 1;
  return rng.chance(0.5) ? from + 1 : from - 1;
}

void change_one(const Variant& variant, Candidate& candidate, Rng& rng) {
  std::vector<size_t> open;
  for (size_t i = 0; i < variant.decisions.size(); ++i)
    if (variant.decisions[i].options.size() > 1) open.push_back(i);
  if (open.empty()) return;
  const size_t which = open[rng.below(open.size())];
  const Decision& decision = variant.decisions[which];
  int64_t& option = candidate.choices[which].second;
  option = decision.options[step(decision, index_of(decision, option), rng)];
}

int64_t nearest_option(const Decision& decision, int64_t wanted) {
  return *std::ranges::min_element(decision.options, {}, [&](int64_t option) { return std::abs(option - wanted); });
}

// Decisions that both variants know by name stay as near as they can; the others are drawn.
Candidate in_other_variant(const ScheduleSpace& space, const Candidate& candidate, Rng& rng) {
  const Variant& variant = space.variants()[rng.below(space.variants().size())];
  Candidate moved{variant.name, {}};
  for (const Decision& decision : variant.decisions) {
    const auto same = std::ranges::find(candidate.choices, decision.name, &std::pair<std::string, int64_t>::first);
    const int64_t option = same != candidate.choices.end() ? nearest_option(decision, same->second)
                                                           : decision.options[rng.below(decision.options.size())];
    moved.choices.emplace_back(decision.name, option);
  }
  return moved;
}

Candidate changed(const ScheduleSpace& space, const Candidate& candidate, Rng& rng) {
  if (space.variants().size() > 1 && rng.chance(kChangeVariant)) return in_other_variant(space, candidate, rng);
  const Variant* variant = space.variant(candidate.variant);
  FARM_ASSERT(variant, "the space has no variant ", candidate.variant);
  Candidate child = candidate;
  change_one(*variant, child, rng);
  while (rng.chance(kSecondChange)) change_one(*variant, child, rng);
  return child;
}

}  // namespace

std::optional<Candidate> mutate(const ScheduleSpace& space, const Candidate& candidate, Rng& rng) {
  for (int attempt = 0; attempt < kTries; ++attempt)
    if (Candidate child = changed(space, candidate, rng); child != candidate && space.contains(child)) return child;
  return std::nullopt;
}

std::optional<Candidate> cross(const ScheduleSpace& space, const Candidate& one, const Candidate& other, Rng& rng) {
  if (one.variant != other.variant) return std::nullopt;
  Candidate child = one;
  for (size_t i = 0; i < child.choices.size(); ++i)
    if (rng.chance(0.5)) child.choices[i] = other.choices[i];
  if (!space.contains(child)) return std::nullopt;
  return child;
}

std::vector<Candidate> neighbours(const ScheduleSpace& space, const Candidate& candidate) {
  const Variant* variant = space.variant(candidate.variant);
  FARM_ASSERT(variant, "the space has no variant ", candidate.variant);
  std::vector<Candidate> found;
  for (size_t i = 0; i < candidate.choices.size(); ++i) {
    const Decision& decision = variant->decisions[i];
    const size_t at = index_of(decision, candidate.choices[i].second);
    for (const size_t next : {at + 1, at - 1}) {  // below zero wraps to a number that is no option
      if (next >= decision.options.size()) continue;
      Candidate moved = candidate;
      moved.choices[i].second = decision.options[next];
      if (space.contains(moved)) found.push_back(std::move(moved));
    }
  }
  return found;
}

}  // namespace farm
