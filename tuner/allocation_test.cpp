// A network's budget over its tasks.
#include "tuner/allocation.h"

#include "tuner/test_farm.h"

namespace farm {
namespace {

std::map<std::string, size_t> trials_by_task(TestTuning& tuning) {
  std::map<std::string, size_t> trials;
  for (const Record& record : tuning.records(Role::Trial)) ++trials[record.key.task];
  return trials;
}

}  // namespace

TEST_CASE("a network's budget is the total over its tasks, and every task gets some") {
  TestTuning tuning;
  tuning.options.layers = {test_layer(16), test_layer(24), test_layer(32)};
  const auto report = tuning.run_until(50);
  REQUIRE(report);
  const auto trials = trials_by_task(tuning);
  CHECK(trials.size() == 3);
  CHECK(tuning.records(Role::Trial).size() == 50);
  for (const auto& [task, count] : trials) CHECK(count >= 8);
  CHECK(tuning.records(Role::Default).size() == 3);
  for (const TaskReport& task : report->tasks) CHECK(task.best);
  CHECK(tuning.run_until(50)->measured_now == 0);
}

TEST_CASE("a budget too small for all gives each task the same few trials first") {
  TestTuning tuning;
  tuning.options.layers = {test_layer(16), test_layer(24), test_layer(32)};
  REQUIRE(tuning.run_until(4));
  CHECK(trials_by_task(tuning).size() == 3);
  CHECK(tuning.records(Role::Trial).size() == 4);
}

TEST_CASE("trials go where they promise to save most: a layer that occurs often, a layer that is slow") {
  TestTuning often;
  often.options.layers = {test_layer(16, 1), test_layer(24, 20)};
  REQUIRE(often.run_until(80));
  auto trials = trials_by_task(often);
  CHECK(trials[test_layer(24).task.text()] > 2 * trials[test_layer(16).task.text()]);

  TestTuning slow;
  slow.options.layers = {test_layer(16), test_layer(24)};
  slow.runner.slowness = [](const std::string& task) { return task == test_layer(24).task.text() ? 50.0 : 1.0; };
  REQUIRE(slow.run_until(80));
  trials = trials_by_task(slow);
  CHECK(trials[test_layer(24).task.text()] > trials[test_layer(16).task.text()]);
}

TEST_CASE("a network that was stopped goes on as if it had not been") {
  TestTuning whole, parted;
  whole.options.layers = parted.options.layers = {test_layer(16, 3), test_layer(24, 1)};
  REQUIRE(whole.run_until(60));
  parted.runner.stop_after = 23;
  REQUIRE(parted.run_until(60)->end == TuneReport::End::Stopped);
  parted.runner.stop_after = SIZE_MAX;
  REQUIRE(parted.run_until(60));
  CHECK(parted.trial_candidates() == whole.trial_candidates());
}

}  // namespace farm
