#include "tuner/evolutionary_search.h"

#include <algorithm>
#include <cmath>

#include "tuner/moves.h"

namespace farm {
namespace {

constexpr int kGenerations = 4;
constexpr size_t kPopulation = 192;
constexpr size_t kShortListed = 4;     // candidates whose nest is looked at for one that is measured
constexpr size_t kParentsKnown = 24;  // fastest records that breed
constexpr size_t kClimbFrom = 3;      // fastest records whose every neighbour is looked at
constexpr double kCross = 0.2, kFreshBlood = 0.1;
constexpr double kRandomShare = 0.08;  // measured whatever the model says of them: it must keep learning elsewhere
constexpr size_t kApart = 2;           // decisions in which two proposals of a batch should differ

struct Scored {
  Candidate candidate;
  std::string text;
  double score;
};

void sort_best_first(std::vector<Scored>& scored) {
  // Equal scores in the order of their texts: a library's sort must not decide.
  std::ranges::sort(scored, [](const Scored& a, const Scored& b) {
    return a.score != b.score ? a.score > b.score : a.text < b.text;
  });
}

// Everything that was bred in this batch, each candidate once, scored by its choices.
class Pool {
 public:
  Pool(const ScheduleSpace& space, const Guide& guide) : space_(space), guide_(guide) {}

  void add(const std::vector<Candidate>& candidates) {
    std::vector<Candidate> fresh;
    for (const Candidate& candidate : candidates)
      if (texts_.insert(candidate.text()).second) fresh.push_back(candidate);
    const std::vector<double> scores = guide_.screen(space_, fresh);
    for (size_t i = 0; i < fresh.size(); ++i) members_.push_back({fresh[i], fresh[i].text(), scores[i]});
    sort_best_first(members_);
  }

  const std::vector<Scored>& best_first() const { return members_; }

  /// By rank, the first ones most often: an eighth of a population is where the chance has fallen to 1/e.
  const Candidate& parent(Rng& rng) const {
    const double rank = -std::log(1 - rng.uniform()) * kPopulation / 8;
    return members_[std::min(static_cast<size_t>(rank), members_.size() - 1)].candidate;
  }

 private:
  const ScheduleSpace& space_;
  const Guide& guide_;
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

// The first ones of the pool that are new, scored again by their nests.
std::vector<Scored> short_list(const SearchState& state, const Pool& pool, const Novelty& novelty, Guide& guide,
                               size_t length) {
  std::vector<Candidate> listed;
  for (const Scored& member : pool.best_first()) {
    if (listed.size() >= length) break;
    if (novelty.unseen(member.candidate)) listed.push_back(member.candidate);
  }
  const std::vector<double> scores = guide.score(state.space, listed);
  std::vector<Scored> list;
  for (size_t i = 0; i < listed.size(); ++i) list.push_back({listed[i], listed[i].text(), scores[i]});
  sort_best_first(list);
  return list;
}

// The best predicted ones, first such that differ from each other, then any.
void choose_best(const std::vector<Scored>& best_first, Novelty& novelty, size_t count, std::vector<Candidate>& chosen) {
  for (const size_t least : {kApart, size_t{1}})
    for (const Scored& member : best_first) {
      if (chosen.size() >= count) return;
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
  for (int generation = 0; generation < kGenerations; ++generation) breed(state, pool, rng);

  std::vector<Candidate> chosen;
  const size_t guided = count - random_share(count, rng);
  choose_best(short_list(state, pool, novelty, guide_, kShortListed * count), novelty, guided, chosen);
  choose_best(pool.best_first(), novelty, guided, chosen);  // where equal programs left too few
  fill_by_chance(state, rng, novelty, count, chosen);
  return chosen;
}

}  // namespace farm
