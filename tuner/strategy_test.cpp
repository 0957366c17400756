#include "tuner/strategy.h"

#include <algorithm>
#include <set>

#include "testing.h"
#include "tuner/family.h"
#include "tuner/moves.h"
#include "tuner/synthetic_space.h"

namespace farm {
namespace {

std::unique_ptr<Strategy> strategy(std::string_view name) { return make_strategy(name).value(); }

bool all_differ(const std::vector<Known>& known) {
  std::set<std::string> texts;
  std::set<Hash> programs;
  for (const Known& each : known) {
    if (!texts.insert(each.candidate.text()).second) return false;
    if (!programs.insert(each.program).second) return false;
  }
  return true;
}

std::vector<std::string> texts(const std::vector<Candidate>& candidates) {
  std::vector<std::string> all;
  for (const Candidate& candidate : candidates) all.push_back(candidate.text());
  return all;
}

size_t allowed_in(const ScheduleSpace& space) {
  size_t count = 0;
  for (uint64_t n = 0; n < static_cast<uint64_t>(space.size()); ++n) count += space.contains(space.at(n));
  return count;
}

}  // namespace

TEST_CASE("a strategy that is not known is refused with the nearest name") {
  const auto wrong = make_strategy("evolution");
  REQUIRE(!wrong);
  CHECK(wrong.error().code == ErrorCode::InvalidArgument);
  CHECK(wrong.error().message ==
        "unknown strategy 'evolution' (did you mean evolutionary?); use evolutionary, random, grid");
  for (const std::string& name : strategy_names()) CHECK(make_strategy(name));
}

TEST_CASE("no strategy proposes a candidate or a program twice") {
  const auto space = synthetic::make_space();
  for (const std::string& name : strategy_names()) {
    INFO(name);
    auto search = strategy(name);
    const auto known = synthetic::tune(*search, *space, 1, 120, 12);
    CHECK(known.size() == 120);
    CHECK(all_differ(known));
  }
}

TEST_CASE("a fresh strategy proposes what one that has run all along does") {
  const auto space = synthetic::make_space();
  for (const std::string& name : strategy_names()) {
    INFO(name);
    auto old = strategy(name);
    for (const size_t records : {0, 10, 40, 70}) {
      const auto known = synthetic::tune(*old, *space, 5, records, 10);
      CHECK(texts(old->propose({*space, known, 5}, 10)) == texts(strategy(name)->propose({*space, known, 5}, 10)));
    }
  }
}

TEST_CASE("another seed leads elsewhere, but not for the grid") {
  const auto space = synthetic::make_space();
  const std::vector<Known> none;
  for (const std::string& name : strategy_names()) {
    INFO(name);
    const auto one = texts(strategy(name)->propose({*space, none, 1}, 8));
    const auto other = texts(strategy(name)->propose({*space, none, 2}, 8));
    CHECK((one == other) == (name == "grid"));
  }
}

TEST_CASE("every strategy exhausts a small space and then stops") {
  const auto space = synthetic::make_space(3);
  const size_t all = allowed_in(*space);
  for (const std::string& name : strategy_names()) {
    INFO(name);
    auto search = strategy(name);
    auto known = synthetic::tune(*search, *space, 1, 10'000, 16);
    CHECK(known.size() <= all);
    CHECK(all_differ(known));
    CHECK(search->propose({*space, known, 1}, 16).empty());
    std::set<Hash> programs, seen;
    for (uint64_t n = 0; n < static_cast<uint64_t>(space->size()); ++n)
      programs.insert(instantiate(*space, space->at(n))->hash);
    for (const Known& each : known) seen.insert(each.program);
    CHECK(seen == programs);
  }
}

TEST_CASE("the grid goes in the space's order and leaves out what is known") {
  const auto space = synthetic::make_space(4);
  const std::vector<Known> none;
  const auto first = strategy("grid")->propose({*space, none, 1}, 20);
  const std::vector<Known> some{{first[3], instantiate(*space, first[3])->hash, 1.0}};
  auto expected = texts(first);
  expected.erase(expected.begin() + 3);
  CHECK(texts(strategy("grid")->propose({*space, some, 1}, 19)) == expected);
}

TEST_CASE("evolution gets nearer to the best than chance with the same hundred trials") {
  const auto space = synthetic::make_space();
  const double best = synthetic::best_latency_ns(*space);
  double evolved = 0, drawn = 0;
  int wins = 0;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const double guided =
        synthetic::share_reached(synthetic::tune(*strategy("evolutionary"), *space, seed, 100, 10), best);
    const double chance = synthetic::share_reached(synthetic::tune(*strategy("random"), *space, seed, 100, 10), best);
    evolved += guided / 10, drawn += chance / 10;
    wins += guided >= chance;
  }
  INFO("evolutionary " << evolved << " random " << drawn << " wins " << wins);
  CHECK(evolved > 0.9);
  CHECK(evolved > drawn + 0.08);
  CHECK(wins >= 6);
}

TEST_CASE("the model's quality is told once it has predicted what it had not seen") {
  const auto space = synthetic::make_space();
  auto search = strategy("evolutionary");
  auto known = synthetic::tune(*search, *space, 1, 20, 10);
  CHECK(!search->model_quality());
  known = synthetic::tune(*search, *space, 1, 100, 10, known);
  REQUIRE(search->model_quality());
  CHECK(search->model_quality()->pairwise > 0.6);
  CHECK(search->model_quality()->examples >= 50);
  CHECK(search->learn_seconds() > 0);
  CHECK(!strategy("random")->model_quality());
}

TEST_CASE("a run that goes on from records judges its model without waiting for new ones") {
  const auto space = synthetic::make_space();
  const auto known = synthetic::tune(*strategy("random"), *space, 1, 80, 10);
  auto search = strategy("evolutionary");
  search->propose({*space, known, 1}, 4);
  REQUIRE(search->model_quality());
  CHECK(search->model_quality()->pairwise > 0.7);
}

TEST_CASE("records of candidates that the space no longer has do no harm") {
  const auto space = synthetic::make_space();
  auto known = synthetic::tune(*strategy("random"), *space, 1, 30, 10);
  for (size_t i = 0; i < known.size(); i += 3) known[i].candidate = {"gone", {{"tile", static_cast<int64_t>(i)}}};
  CHECK(strategy("evolutionary")->propose({*space, known, 1}, 8).size() == 8);
}

TEST_CASE("a family agrees in what moves the latency and differs in the rest") {
  const auto space = synthetic::make_space();
  // Only tile_x counts here.
  const auto score = [](const std::vector<Candidate>& candidates) {
    std::vector<double> scores;
    for (const Candidate& each : candidates)
      scores.push_back(static_cast<double>(10 * each.choice("tile_x") + each.choice("rows")));
    return scores;
  };
  const Candidate start = space->default_candidate();
  const Families families(*space, {start}, score);
  const auto with = [&](size_t which, int64_t option) {
    Candidate moved = start;
    moved.choices[which].second = option;
    return families.of(moved);
  };
  CHECK(with(0, 12) == families.of(start));
  CHECK(with(4, 1 - start.choices[4].second) == families.of(start));
  CHECK(with(1, 48) != families.of(start));
  CHECK(families.of({"packed", start.choices}) != families.of(start));
}

TEST_CASE("a batch of proposals is never of one family alone") {
  const auto space = synthetic::make_space();
  const auto known = synthetic::tune(*strategy("random"), *space, 2, 96, 16);
  std::set<std::pair<int64_t, int64_t>> tiles;
  for (const Candidate& each : strategy("evolutionary")->propose({*space, known, 2}, 16))
    tiles.emplace(each.choice("tile_y"), each.choice("tile_x"));
  CHECK(tiles.size() >= 4);
}

TEST_CASE("moves stay in the space and change what they say") {
  const auto space = synthetic::make_space();
  Rng rng(3);
  const Candidate start = space->default_candidate();
  for (int i = 0; i < 200; ++i) {
    const auto moved = mutate(*space, start, rng);
    REQUIRE(moved);
    CHECK(space->contains(*moved));
    CHECK(*moved != start);
    if (const auto child = cross(*space, start, *moved, rng)) CHECK(space->contains(*child));
  }
  for (const Candidate& next : neighbours(*space, start)) {
    int differing = 0;
    for (size_t i = 0; i < next.choices.size(); ++i) differing += next.choices[i] != start.choices[i];
    CHECK(differing == 1);
    CHECK(space->contains(next));
  }
}

}  // namespace farm
