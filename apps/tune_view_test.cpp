#include "apps/tune_view.h"

#include "testing.h"

namespace farm {
namespace {

TuneProgress at(TuneProgress::Phase phase) {
  TuneProgress progress{.phase = phase, .layer = "resnet18/conv1"};
  progress.trials = 120;
  progress.trials_wanted = 200;
  return progress;
}

void add_best(TuneProgress& progress) {
  progress.best_ns = 549'000;
  progress.best_gflops = 421;
  progress.share_of_peak = 0.78;
}

}  // namespace

TEST_CASE("until the default schedule has been measured, the line says that it is being measured") {
  TuneProgress progress = at(TuneProgress::Phase::Default);
  CHECK(progress_line(progress, true) == "measuring the default schedule");
  progress.tasks = 12;
  CHECK(progress_line(progress, false) == "resnet18/conv1 (1 of 12)  measuring the default schedule");
}

TEST_CASE("a search says how far it is, what it has and how long it will take") {
  TuneProgress progress = at(TuneProgress::Phase::Search);
  add_best(progress);
  progress.candidates_per_s = 9.1;
  progress.failed[Outcome::Timeout] = 2;
  progress.seconds_left = 9;
  CHECK(progress_line(progress, true) ==
        "[############........] 120/200 trials  best 0.549 ms 421.0 GFLOP/s 78 % of peak  9.1/s  failed 2 (timeout 2)  "
        "9.0 s left");
}

TEST_CASE("a search in which nothing has worked says so") {
  TuneProgress progress = at(TuneProgress::Phase::Search);
  progress.failed[Outcome::Crashed] = 120;
  CHECK(progress_line(progress, false) == "120/200 trials  none works yet  failed 120 (crashed 120)");
}

TEST_CASE("finals say what they are") {
  TuneProgress progress = at(TuneProgress::Phase::Finals);
  add_best(progress);
  CHECK(progress_line(progress, true) ==
        "finals: the fastest again, beside the default schedule  best 0.549 ms 421.0 GFLOP/s 78 % of peak");
}

}  // namespace farm
