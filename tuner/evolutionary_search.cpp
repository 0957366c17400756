#include "tuner/evolutionary_search.h"

#include <algorithm>
#include <cmath>

#include "tuner/breeding_pool.h"
#include "tuner/moves.h"

namespace farm {
namespace {

constexpr int kGenerations = 4;
constexpr size_t kPopulation = 192;
constexpr size_t kParentsKnown = 24;  // fastest records that breed
constexpr size_t kClimbFrom = 3;      // fastest records whose every neighbour is looked at
constexpr double kCross = 0.2, kFreshBlood = 0.1;
constexpr double kRandomShare = 0.12;  // measured whatever the model says of them: it must keep learning elsewhere
constexpr size_t kFamilies = 8;        // that a batch looks at, at least

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

std::optional<Candidate> child(const SearchState& state, const BreedingPool& pool, Rng& rng) {
  if (rng.chance(kFreshBlood)) return state.space.sample(rng);
  const Candidate& parent = pool.parent(rng, kPopulation / 8.0);
  if (rng.chance(kCross)) return cross(state.space, parent, pool.parent(rng, kPopulation / 8.0), rng);
  return mutate(state.space, parent, rng);
}

void breed(const SearchState& state, BreedingPool& pool, Rng& rng) {
  std::vector<Candidate> children;
  for (size_t i = 0; i < kPopulation; ++i)
    if (auto born = child(state, pool, rng)) children.push_back(std::move(*born));
  pool.add(children);
}

// The best predicted ones, so many of each family at first. Only where equal programs leave too few is one taken whose
// nest nobody looked at.
void choose_best(const BreedingPool& pool, Novelty& novelty, size_t count, size_t each_family,
                 std::vector<Candidate>& chosen) {
  std::unordered_map<std::string, size_t> taken;
  for (const auto& [most, any] : {std::pair{each_family, false}, {count, false}, {count, true}})
    for (const BreedingPool::Member& member : pool.best_first()) {
      if (chosen.size() >= count) return;
      if ((!member.by_nest && !any) || taken[member.family] >= most) continue;
      if (!novelty.unseen(member.candidate) || !novelty.take(member.candidate)) continue;
      ++taken[member.family];
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

  const size_t each_family = std::max<size_t>(1, count / kFamilies);
  BreedingPool pool(state.space, guide_, first_generation(state, rng));
  for (int generation = 0; generation < kGenerations; ++generation) {
    breed(state, pool, rng);
    pool.look_closer(novelty, count, each_family);
  }

  std::vector<Candidate> chosen;
  choose_best(pool, novelty, count - random_share(count, rng), each_family, chosen);
  fill_by_chance(state, rng, novelty, count, chosen);
  return chosen;
}

}  // namespace farm
