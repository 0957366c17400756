// The loop against a builder and a device that are formulas.
#include "tuner/test_farm.h"

namespace farm {

TEST_CASE("a budget of trials is used up exactly, the default schedule and finals beside it") {
  TestTuning tuning;
  const auto report = tuning.run_until(20);
  REQUIRE(report);
  CHECK(report->end == TuneReport::End::Budget);
  CHECK(report->tasks[0].trials == 20);
  CHECK(report->measured_now == 20);
  CHECK(tuning.records(Role::Trial).size() == 20);
  CHECK(tuning.records(Role::Default).size() == 1);
  CHECK(tuning.records().front().role == Role::Default);
  CHECK(tuning.records().back().role == Role::Final);
}

TEST_CASE("a finished run run again measures nothing and knows what was found") {
  TestTuning tuning;
  const auto first = tuning.run_until(20);
  const size_t measured = tuning.runner.measured, stored = tuning.records().size();
  const auto again = tuning.run_until(20);
  REQUIRE(again);
  CHECK(again->measured_now == 0);
  CHECK(tuning.runner.measured == measured);
  CHECK(tuning.records().size() == stored);
  CHECK(again->tasks[0].best == first->tasks[0].best);
  CHECK(again->tasks[0].fallback == first->tasks[0].fallback);

  const auto more = tuning.run_until(25);  // ... unless it is given more
  REQUIRE(more);
  CHECK(more->measured_now == 5);
  CHECK(more->tasks[0].trials == 25);
}

TEST_CASE("no candidate and no lowered program is measured twice") {
  TestTuning tuning;
  REQUIRE(tuning.run_until(60));
  tuning.options.seed = 2;  // another seed draws others, and must not draw the same
  REQUIRE(tuning.run_until(90));
  std::set<std::string> candidates;
  std::set<Hash> programs;
  for (const Record& record : tuning.records()) {
    if (record.role == Role::Final) continue;
    CHECK(candidates.insert(record.candidate).second);
    CHECK(programs.insert(record.program).second);
  }
  CHECK(tuning.records(Role::Trial).size() == 90);
}

TEST_CASE("a run that was stopped goes on as if it had not been") {
  for (const char* strategy : {"random", "grid", "evolutionary"}) {
    TestTuning whole, parted;
    whole.options.strategy = parted.options.strategy = strategy;
    REQUIRE(whole.run_until(40));
    for (const size_t stop : {size_t{7}, size_t{12}, size_t{29}}) {
      parted.runner.stop_after = stop;
      const auto report = parted.run_until(40);
      REQUIRE(report);
      CHECK(report->end == TuneReport::End::Stopped);
      CHECK(parted.records(Role::Trial).size() < 40);
    }
    parted.runner.stop_after = SIZE_MAX;
    REQUIRE(parted.run_until(40));
    INFO(strategy);
    CHECK(parted.trial_candidates() == whole.trial_candidates());
  }
}

TEST_CASE("another seed proposes something else") {
  TestTuning one, other;
  other.options.seed = 7;
  REQUIRE(one.run_until(20));
  REQUIRE(other.run_until(20));
  CHECK(one.trial_candidates() != other.trial_candidates());
}

TEST_CASE("candidates that fail are records with their kind, and count as trials") {
  TestTuning tuning;
  auto digit = [](const std::string& text) { return hash_text(text).bytes[1] % 4; };
  tuning.builder.cannot_build = [=](const std::string& text) { return digit(text) == 0; };
  tuning.runner.outcome = [=](const std::string& text) {
    return digit(text) == 1 ? Outcome::WrongResult : Outcome::Ok;
  };
  const auto report = tuning.run_until(40);
  REQUIRE(report);
  CHECK(report->tasks[0].trials == 40);
  const auto& failed = report->tasks[0].failed;
  REQUIRE(failed.contains(Outcome::BuildFailed));
  REQUIRE(failed.contains(Outcome::WrongResult));
  size_t wrong = 0;
  for (const Record& record : tuning.records(Role::Trial)) {
    if (record.measurement.outcome == Outcome::WrongResult) ++wrong;
    if (record.measurement.outcome == Outcome::BuildFailed) CHECK(record.measurement.detail == "no code came out");
  }
  CHECK(wrong == failed.at(Outcome::WrongResult));
  REQUIRE(report->tasks[0].best);
  CHECK(report->tasks[0].best->measurement.outcome == Outcome::Ok);
}

TEST_CASE("when all candidates fail there is no best, and the first error is known") {
  TestTuning tuning;
  tuning.runner.outcome = [](const std::string&) { return Outcome::Crashed; };
  const auto report = tuning.run_until(10);
  REQUIRE(report);
  CHECK_FALSE(report->tasks[0].best);
  CHECK(report->tasks[0].failed.at(Outcome::Crashed) == 10);
  CHECK(report->tasks[0].first_error == "crashed: as the test wants");
  CHECK(tuning.records(Role::Final).empty());
}

TEST_CASE("trouble of the farm ends the run, is no candidate's fault, and loses no record") {
  TestTuning tuning;
  REQUIRE(tuning.run_until(10));
  const size_t stored = tuning.records().size();
  tuning.runner.trouble = Error{ErrorCode::Unavailable, "the device burns"};
  const auto report = tuning.run_until(20);
  REQUIRE(report);
  REQUIRE(report->trouble);
  CHECK(report->trouble->message == "the device burns");
  CHECK(tuning.records().size() == stored);

  tuning.runner.trouble.reset();
  tuning.builder.broken = true;
  const auto unbuilt = tuning.run_until(20);
  REQUIRE(unbuilt);
  CHECK(unbuilt->trouble->message == "no compiler here");
  CHECK(tuning.records().size() == stored);
}

TEST_CASE("finals: the fastest beside the default, interleaved, on inputs that no trial saw") {
  TestTuning tuning;
  const std::string slow = (*make_space(tuning.options.layers[0].task, test_target(), 2))->default_candidate().text();
  tuning.runner.latency_ns = [=](const std::string& text) {
    return text == slow ? 5000.0 : 1000.0 + hash_text(text).bytes[0];
  };
  REQUIRE(tuning.run_until(20));
  const MeasureRequest& finals = tuning.runner.requests.back();
  CHECK(finals.interleave);
  CHECK(finals.artifacts.size() == tuning.options.finalists + 1);
  CHECK(finals.inputs.seed != tuning.runner.requests.front().inputs.seed);
  CHECK(finals.best_ns == 0);  // nobody is cut short
  const auto records = tuning.records(Role::Final);
  REQUIRE(records.size() == tuning.options.finalists + 1);
  const std::string fallback = tuning.records(Role::Default).front().candidate;
  CHECK(std::ranges::any_of(records, [&](const Record& record) { return record.candidate == fallback; }));
}

TEST_CASE("finals that differ by no more than noise are told as ties, and the simplest of them is best") {
  TestTuning tuning;
  tuning.runner.latency_ns = [](const std::string& text) { return 1000 + hash_text(text).bytes[0] % 2 * 0.1; };
  const auto report = tuning.run_until(12);
  REQUIRE(report);
  CHECK(report->tasks[0].ties.size() + 1 == tuning.records(Role::Final).size());
  CHECK(report->tasks[0].best->candidate == tuning.records(Role::Default).front().candidate);
}

TEST_CASE("the best is compared with the default schedule of its own final, whatever a later run measured") {
  TestTuning tuning;
  double slowness = 1;
  tuning.runner.latency_ns = [&](const std::string& text) { return slowness * (1000.0 + hash_text(text).bytes[0]); };
  tuning.options.run_id = "quiet";
  REQUIRE(tuning.run_until(20));
  slowness = 3;
  tuning.options.run_id = "noisy";
  const auto report = tuning.run_until(30);
  REQUIRE(report);
  REQUIRE(report->tasks[0].best);
  REQUIRE(report->tasks[0].fallback);
  CHECK(report->tasks[0].best->run_id == "quiet");
  CHECK(report->tasks[0].fallback->run_id == "quiet");
}

TEST_CASE("a budget of time counts what is stored, so that a finished run stays finished") {
  TestTuning tuning;
  tuning.options.budget.time = std::chrono::seconds(20);
  const auto report = tuning.run();
  REQUIRE(report);
  CHECK(report->end == TuneReport::End::Budget);
  double seconds = 0;
  for (const Record& record : tuning.records()) seconds += static_cast<double>(record.spent_ns) * 1e-9;
  CHECK(seconds > 15);
  CHECK(seconds < 22);
  const auto again = tuning.run();
  REQUIRE(again);
  CHECK(again->measured_now == 0);
  tuning.options.budget.time = std::chrono::seconds(30);
  CHECK(tuning.run()->measured_now > 50);
}

TEST_CASE("a run without a budget ends when nothing improves, and one with a budget does not") {
  TestTuning tuning;
  tuning.runner.latency_ns = [](const std::string&) { return 1000.0; };
  tuning.options.budget = {.time = std::chrono::minutes(10), .stop_without_progress = true};
  const auto report = tuning.run();
  REQUIRE(report);
  CHECK(report->end == TuneReport::End::NoProgress);
  CHECK(report->tasks[0].trials < 200);
  const size_t more = report->tasks[0].trials + 30;
  tuning.options.budget = {};
  CHECK(tuning.run_until(more)->tasks[0].trials == more);
}

TEST_CASE("a space that is exhausted ends a run before its budget") {
  TestTuning tuning;
  tuning.options.layers = {{"tiny", *make_task("matmul", "m=1,n=1,k=1"), 1}};
  const auto report = tuning.run_until(1'000'000);
  REQUIRE(report);
  CHECK(report->end == TuneReport::End::Exhausted);
  CHECK(report->tasks[0].exhausted);
}

TEST_CASE("more threads than the device has are refused before anything is measured") {
  TestTuning tuning;
  tuning.options.threads = 3;
  const auto report = tuning.run_until(10);
  REQUIRE_FALSE(report);
  CHECK(report.error().message == "--threads is 3 when the device test has 2 cores; 1 to 2 are possible");
  CHECK(tuning.records().empty());
}

TEST_CASE("records of another measuring policy are not counted") {
  TestTuning tuning;
  REQUIRE(tuning.run_until(10));
  tuning.options.policy.min_samples = 9;
  const auto report = tuning.run_until(10);
  REQUIRE(report);
  CHECK(report->measured_now == 10);
}

TEST_CASE("elsewhere than on our cores, batches are measured in the same order") {
  TestTuning here, there;
  there.runner.shared = false;
  REQUIRE(here.run_until(30));
  REQUIRE(there.run_until(30));
  CHECK(there.trial_candidates() == here.trial_candidates());
}

TEST_CASE("what there is to see grows with the run") {
  TestTuning tuning;
  REQUIRE(tuning.run_until(20));
  REQUIRE(tuning.seen.size() > 3);
  CHECK(tuning.seen.front().phase == TuneProgress::Phase::Default);
  CHECK(tuning.seen.back().phase == TuneProgress::Phase::Finals);
  CHECK(tuning.seen.back().trials == 20);
  CHECK(tuning.seen.back().best_ns > 0);
  CHECK(tuning.seen.back().share_of_peak > 0);
}

}  // namespace farm
