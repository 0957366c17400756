// Whole farms in virtual time. A failing seed is printed: it alone repeats the run.
#include "testing.h"
#include "tests/simulation/farm_world.h"

namespace farm::simulation {
namespace {

struct Totals {
  int64_t grants = 0, sessions = 0, stale = 0, faults = 0;
};

Totals run_seeds(uint64_t first, uint64_t count, int steps, WorldOptions options) {
  Totals totals;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    World world(seed, options);
    world.run(steps);
    INFO("seed " << seed);
    CHECK(world.breaches == std::vector<std::string>{});
    totals.grants += world.grants;
    totals.sessions += world.sessions;
    totals.stale += world.stale;
    totals.faults += world.faults;
  }
  return totals;
}

}  // namespace

TEST_CASE("in a farm without faults every grant becomes a session") {
  Totals totals = run_seeds(1, 20, 1000, {.fault_rate = 0});
  CHECK(totals.faults == 0);
  CHECK(totals.stale == 0);
  CHECK(totals.grants > 20 * 100);
}

TEST_CASE("no fault makes two sessions, a falling epoch, a lease without end or a client that waits for ever") {
  Totals totals = run_seeds(1000, 300, 1000, {});
  // The faults did something, and work went on all the same.
  CHECK(totals.faults > 300 * 10);
  CHECK(totals.stale > 100);
  CHECK(totals.sessions > 300 * 50);
}

TEST_CASE("a crowd on one device and faults every second") {
  run_seeds(5000, 100, 1000, {.devices = 1, .clients = 8, .keys = 1, .priorities = 1, .fault_rate = 0.1});
}

TEST_CASE("many seeds, more devices, longer", "[slow]") {
  run_seeds(10'000, 2'000, 2'000, {});
  run_seeds(20'000, 300, 1'000, {.devices = 20, .clients = 30, .keys = 3, .priorities = 1, .fault_rate = 0.05});
}

}  // namespace farm::simulation
