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

TuneProgress usual_search() {
  TuneProgress progress = at(TuneProgress::Phase::Search);
  add_best(progress);
  progress.candidates_per_s = 9.1;
  progress.failed[Outcome::Timeout] = 2;
  progress.seconds_left = 545;
  return progress;
}

}  // namespace

TEST_CASE("until the default schedule has been measured, the line says that it is being measured") {
  TuneProgress progress = at(TuneProgress::Phase::Default);
  CHECK(progress_line(progress, 79) == "measuring the default schedule");
  progress.tasks = 12;
  CHECK(progress_line(progress) == "resnet18/conv1 (1 of 12)  measuring the default schedule");
}

TEST_CASE("a search says how far it is, what it has and how long it will take") {
  CHECK(progress_line(usual_search()) ==
        "120/200 trials  best 549.0 us 421.0 GFLOP/s 78 % of peak  9.1/s  failed 2 (timeout 2)  9 min 05 s left");
}

TEST_CASE("a terminal gets all that matters in as many columns as it has") {
  const TuneProgress progress = usual_search();
  CHECK(progress_line(progress, 199) ==
        "[############........] 120/200 trials  best 549.0 us 421.0 GFLOP/s 78 % of peak  9.1/s  failed 2 (timeout 2)  "
        "9 min 05 s left");
  CHECK(progress_line(progress, 119) ==
        "[############........] 120/200 trials  best 549.0 us 421.0 GFLOP/s 78 % of peak  9.1/s  failed 2  "
        "9 min 05 s left");
  CHECK(progress_line(progress, 79) ==
        "[##..] 120/200  best 549.0 us 421 GFLOP/s 78 % peak  9.1/s  failed 2  9:05 left");
  CHECK(progress_line(progress, 59) == "best 549.0 us 421 GFLOP/s 78 % peak  9.1/s  9:05 left");
  CHECK(progress_line(progress, 30) == "best 549.0 us  9:05 left");
}

TEST_CASE("the longest figures leave the bar, the best, the rate, failures and time left in 80 columns") {
  TuneProgress progress = usual_search();
  progress.trials = 9'999;
  progress.trials_wanted = 10'000;
  progress.candidates_per_s = 12.3;
  progress.failed[Outcome::Timeout] = 1'234;
  progress.best_gflops = 1'421.5;
  progress.seconds_left = 2 * 3600 + 3;
  const std::string line = progress_line(progress, 79);
  CHECK(line == "[###.] best 549.0 us 1422 GFLOP/s 78 % peak  12.3/s  failed 1234  2:00:03 left");
}

TEST_CASE("a network's line names the layer, on a narrow terminal only its number") {
  TuneProgress progress = usual_search();
  progress.tasks = 12;
  progress.task = 2;
  CHECK(progress_line(progress, 119) ==
        "[######....] conv1 3/12  120/200  best 549.0 us 421 GFLOP/s 78 % peak  9.1/s  failed 2  9:05 left");
  CHECK(progress_line(progress, 79) == "[##..] 3/12  best 549.0 us 421 GFLOP/s 78 % peak  9.1/s  failed 2  9:05 left");
}

TEST_CASE("no line is wider than its terminal") {
  TuneProgress progress = usual_search();
  progress.tasks = 12;
  progress.layer = std::string(150, 'x');
  for (size_t columns = 1; columns < 250; ++columns) CHECK(progress_line(progress, columns).size() <= columns);
}

TEST_CASE("a search in which nothing has worked says so") {
  TuneProgress progress = at(TuneProgress::Phase::Search);
  progress.failed[Outcome::Crashed] = 120;
  CHECK(progress_line(progress) == "120/200 trials  none works yet  failed 120 (crashed 120)");
}

TEST_CASE("finals say what they are") {
  TuneProgress progress = at(TuneProgress::Phase::Finals);
  add_best(progress);
  CHECK(progress_line(progress, 119) ==
        "finals: the fastest again, beside the default schedule  best 549.0 us 421.0 GFLOP/s 78 % of peak");
  CHECK(progress_line(progress, 79) == "finals  best 549.0 us 421 GFLOP/s 78 % peak");
}

}  // namespace farm
