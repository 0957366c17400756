#include "tuner/breeding_pool.h"

#include <algorithm>
#include <cmath>

namespace farm {

BreedingPool::BreedingPool(const ScheduleSpace& space, Guide& guide, const std::vector<Candidate>& first_generation)
    : space_(space), guide_(guide), families_(space, first_generation, [&](const std::vector<Candidate>& candidates) {
        return guide.screen(space, candidates);
      }) {
  add(first_generation);
}

void BreedingPool::add(const std::vector<Candidate>& candidates) {
  std::vector<Candidate> fresh;
  for (const Candidate& candidate : candidates)
    if (texts_.insert(candidate.text()).second) fresh.push_back(candidate);
  const std::vector<double> scores = guide_.screen(space_, fresh);
  for (size_t i = 0; i < fresh.size(); ++i)
    members_.push_back({fresh[i], fresh[i].text(), families_.of(fresh[i]), scores[i]});
  sort_best_first();
}

void BreedingPool::look_closer(const Novelty& novelty, size_t count, size_t each_family) {
  std::vector<Member*> looked_at;
  std::vector<Candidate> candidates;
  std::unordered_map<std::string, size_t> taken;
  for (Member& member : members_) {
    if (candidates.size() >= count) break;
    if (member.by_nest || !novelty.unseen(member.candidate) || taken[member.family] >= each_family) continue;
    ++taken[member.family];
    looked_at.push_back(&member);
    candidates.push_back(member.candidate);
  }
  const std::vector<double> scores = guide_.score(space_, candidates);
  for (size_t i = 0; i < scores.size(); ++i) looked_at[i]->score = scores[i], looked_at[i]->by_nest = true;
  sort_best_first();
}

const Candidate& BreedingPool::parent(Rng& rng, double spread) const {
  const double rank = -std::log(1 - rng.uniform()) * spread;
  return members_[std::min(static_cast<size_t>(rank), members_.size() - 1)].candidate;
}

void BreedingPool::sort_best_first() {
  // Equal scores in the order of their texts: a library's sort must not decide.
  std::ranges::sort(members_, [](const Member& a, const Member& b) {
    return a.score != b.score ? a.score > b.score : a.text < b.text;
  });
}

}  // namespace farm
