#include "tuner/evolutionary_search.h"

#include <algorithm>
#include <cmath>

#include "tuner/moves.h"

namespace farm {
namespace {

constexpr int kGenerations = 4;
constexpr size_t kPopulation = 192;
constexpr size_t kParentsKnown = 24;  // fastest records that breed
constexpr size_t kClimbFrom = 3;      // fastest records whose every neighbour is looked at
constexpr double kCross = 0.2, kFreshBlood = 0.1;
constexpr double kRandomShare = 0.12;  // measured whatever the model says of them: it must keep learning elsewhere
constexpr size_t kApart = 2;           // decisions in which two proposals of a batch should differ

struct Scored {
  Candidate candidate;
  std::string text;
  double score;
  bool by_nest = false;  ///< the nest had its say in the score
};

// Everything that was bred in this batch, each candidate once, the best predicted first.
class Pool {
 public:
  Pool(const ScheduleSpace& space, Guide& guide) : space_(space), guide_(guide) {}

  void add(const std::vector<Candidate>& candidates) {
    std::vector<Candidate> fresh;
    for (const Candidate& candidate : candidates)
      if (texts_.insert(candidate.text()).second) fresh.push_back(candidate);
    const std::vector<double> scores = guide_.screen(space_, fresh);
    for (size_t i = 0; i < fresh.size(); ++i) members_.push_back({fresh[i], fresh[i].text(), scores[i]});
    sort_best_first();
  }

  /// Looks at the nests of the first `count` that nobody measured and whose nest was not looked at yet.
  void look_closer(const Novelty& novelty, size_t count) {
    std::vector<Scored*> looked_at;
    std::vector<Candidate> candidates;
    for (Scored& member : members_) {
      if (candidates.size() >= count) break;
      if (member.by_nest || !novelty.unseen(member.candidate)) continue;
      looked_at.push_back(&member);
      candidates.push_back(member.candidate);
    }
    const std::vector<double> scores = guide_.score(space_, candidates);
    for (size_t i = 0; i < scores.size(); ++i) looked_at[i]->score = scores[i], looked_at[i]->by_nest = true;
    sort_best_first();
  }

  const std::vector<Scored>& best_first() const { return members_; }

  /// By rank, the first ones most often: an eighth of a population is where the chance has fallen to 1/e.
  const Candidate& parent(Rng& rng) const {
    const double rank = -std::log(1 - rng.uniform()) * kPopulation / 8;
    return members_[std::min(static_cast<size_t>(rank), members_.size() - 1)].candidate;
  }

 private:
  void sort_best_first() {
    // Equal scores in the order of their texts: a library's sort must not decide.
    std::ranges::sort(members_, [](const Scored& a, const Scored& b) {
      return a.score != b.score ? a.score > b.score : a.text < b.text;
    });
  }

  const ScheduleSpace& space_;
  Guide& guide_;
  std::unordered_set<std::string> texts_;
  std::vector<Scored> members_;
};

std::vector<Candidate> fastest(const SearchState& state, size_t count) {
  std::vector<const Known*> order;
  for (const Known& known : state.known)
    if (known.latency_ns > 0 && state.space.contains(known.candidate)) order.push_back(&known);
  std::ranges::stable_sort(order, {}, &Known::latency_ns);
  std::vector<Candidate> best;
  for (size_t i = 0; i < std::min(count, order.size()); ++i) best.push_back(order[i]->candidate);
  return best;
}

std::vector<Candidate> first_generation(const SearchState& state, Rng& rng) {
  std::vector<Candidate> generation = fastest(state, kParentsKnown);
  for (size_t i = 0, parents = std::min(kClimbFrom, generation.size()); i < parents; ++i)
    for (Candidate& next : neighbours(state.space, generation[i])) generation.push_back(std::move(next));
  generation.push_back(state.space.default_candidate());
  for (size_t i = 0; i < kPopulation; ++i)
    if (auto drawn = state.space.sample(rng)) generation.push_back(std::move(*drawn));
  return generation;
}

std::optional<Candidate> child(const SearchState& state, const Pool& pool, Rng& rng) {
  if (rng.chance(kFreshBlood)) return state.space.sample(rng);
  const Candidate& parent = pool.parent(rng);
  if (rng.chance(kCross)) return cross(state.space, parent, pool.parent(rng), rng);
  return mutate(state.space, parent, rng);
}

void breed(const SearchState& state, Pool& pool, Rng& rng) {
  std::vector<Candidate> children;
  for (size_t i = 0; i < kPopulation; ++i)
    if (auto born = child(state, pool, rng)) children.push_back(std::move(*born));
  pool.add(children);
}

bool apart(const Candidate& candidate, const std::vector<Candidate>& chosen, size_t least) {
  return std::ranges::all_of(chosen, [&](const Candidate& other) { return distance(candidate, other) >= least; });
}

// The best predicted ones, first such that differ from each other, then any. Only where equal programs leave too few
// is one taken whose nest nobody looked at.
void choose_best(const Pool& pool, Novelty& novelty, size_t count, std::vector<Candidate>& chosen) {
  for (const auto& [least, any] : {std::pair{kApart, false}, {size_t{1}, false}, {size_t{1}, true}})
    for (const Scored& member : pool.best_first()) {
      if (chosen.size() >= count) return;
      if (!member.by_nest && !any) continue;
      if (novelty.unseen(member.candidate) && apart(member.candidate, chosen, least) && novelty.take(member.candidate))
        chosen.push_back(member.candidate);
    }
}

void fill_by_chance(const SearchState& state, Rng& rng, Novelty& novelty, size_t count,
                    std::vector<Candidate>& chosen) {
  for (Candidate& drawn : draw_new(state.space, rng, novelty, count - chosen.size()))
    chosen.push_back(std::move(drawn));
}

// Before there is a model: half around the default schedule, which is known to be decent, half anywhere.
std::vector<Candidate> explore(const SearchState& state, Rng& rng, Novelty& novelty, size_t count) {
  std::vector<Candidate> chosen;
  for (size_t tries = 0; chosen.size() < (count + 1) / 2 && tries < 8 * count; ++tries) {
    const auto near = mutate(state.space, state.space.default_candidate(), rng);
    if (near && novelty.unseen(*near) && novelty.take(*near)) chosen.push_back(*near);
  }
  fill_by_chance(state, rng, novelty, count, chosen);
  return chosen;
}

// Less than one a batch on average is one now and then.
size_t random_share(size_t count, Rng& rng) {
  const double wanted = kRandomShare * static_cast<double>(count);
  const double whole = std::floor(wanted);
  return static_cast<size_t>(whole) + (rng.chance(wanted - whole) ? 1 : 0);
}

}  // namespace

std::vector<Candidate> EvolutionarySearch::propose(const SearchState& state, size_t count) {
  Novelty novelty(state, programs_);
  Rng rng = batch_rng(state, "evolutionary");
  guide_.learn(state);
  if (!guide_.ready()) return explore(state, rng, novelty, count);

  Pool pool(state.space, guide_);
  pool.add(first_generation(state, rng));
  for (int generation = 0; generation < kGenerations; ++generation) {
    breed(state, pool, rng);
    pool.look_closer(novelty, count);
  }

  std::vector<Candidate> chosen;
  choose_best(pool, novelty, count - random_share(count, rng), chosen);
  fill_by_chance(state, rng, novelty, count, chosen);
  return chosen;
}

}  // namespace farm
