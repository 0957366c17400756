#include "apps/tune_report.h"

#include "target/target.h"
#include "tests/records.h"

namespace farm {
namespace {

TaskReport found(const std::string& layer, const std::string& text, double latency_ns, const Target& device) {
  const Task task = *task_from_text(text);
  TaskReport report{
      .layer = {.name = layer, .task = task}, .key = {.task = text, .target = device.text()}, .trials = 40};
  report.key.threads = 2;
  report.best = report.fallback = measured(text, device, 2, "tiles{}", latency_ns);
  report.best->flops = 2000;
  return report;
}

TaskReport found_here(const std::string& layer, const std::string& text, double latency_ns) {
  return found(layer, text, latency_ns, describe_host());
}

std::string report_of(const TuneReport& report, const TuneCall& call) {
  return tune_report_text(report, {.name = "net", .title = "A network"}, call);
}

std::string next_of(const TuneReport& report, const TuneCall& call) {
  const std::string text = report_of(report, call);
  return text.substr(text.find("next"));
}

}  // namespace

TEST_CASE("what comes next are commands for the programs as this one was called") {
  TuneReport report;
  report.tasks = {found_here("matmul", "matmul(m=8,n=8,k=8)", 1000)};
  const TuneCall call{.prefix = "'/a b/farm' ",
                      .task = "matmul",
                      .shape = "m=8,n=8,k=8",
                      .constant = "b",
                      .device = "rk3399",
                      .tracker = "host:9190",
                      .db = "my records.db",
                      .threads = 2};
  CHECK(next_of(report, call) ==
        "next:\n"
        "  '/a b/farm' compile --task matmul --shape m=8,n=8,k=8 --constant b --target " +
            describe_host().text() +
            " --threads 2 --db 'my records.db' --name my_matmul -o my_matmul.so --header my_matmul.h\n"
            "  '/a b/farm' tuning_db best --db 'my records.db'\n"
            "  '/a b/farm' tune --task matmul --shape m=8,n=8,k=8 --constant b --device rk3399 --tracker host:9190 "
            "--threads 2 --db 'my records.db' --trials 100\n");
}

TEST_CASE("of a network the layer that costs most is to be compiled, by its name or its text") {
  TuneReport report;
  report.tasks = {found_here("net/small", "matmul(m=8,n=8,k=8)", 1000),
                  found_here("matmul(m=16,n=8,k=8)", "matmul(m=16,n=8,k=8)", 700)};
  report.tasks[0].exhausted = report.tasks[1].exhausted = true;  // so no further run makes sense
  const TuneCall call{.task = "net.txt", .device = "local", .db = "tuning.db"};
  const std::string rest = " --target " + describe_host().text() + " --threads 2\n  tuning_db best\n";
  CHECK(next_of(report, call) == "next; most of the time goes into net/small:\n  compile --task net/small" + rest);
  report.tasks[1].layer.occurrences = 2;
  CHECK(next_of(report, call) ==
        "next; most of the time goes into matmul(m=16,n=8,k=8):\n  compile --task 'matmul(m=16,n=8,k=8)'" + rest);
}

TEST_CASE("no library is suggested for a device of another ISA, for which none can be made here") {
  const bool arm = isa_family(describe_host().isa) == "aarch64";
  TuneReport report;
  report.tasks = {found("matmul", "matmul(m=8,n=8,k=8)", 1000, *target_from_name(arm ? "x86-64" : "aarch64"))};
  CHECK(next_of(report, {.task = "matmul", .device = "board", .db = "tuning.db"}) ==
        "next:\n  tuning_db best\n  tune --task matmul --device board --trials 100\n");
}

TEST_CASE("kernels of nanoseconds are told in nanoseconds") {
  TuneReport report;
  report.tasks = {found_here("matmul", "matmul(m=8,n=8,k=8)", 48.25)};
  CHECK(report_of(report, {.task = "matmul", .device = "local", .db = "tuning.db"})
            .find("best     48.25 ns  41.5 GFLOP/s  (between 48.25 ns and 48.25 ns)") != std::string::npos);
}

TEST_CASE("without new trials it says whether anything was measured") {
  TuneReport report;
  report.tasks = {found_here("matmul", "matmul(m=8,n=8,k=8)", 1000)};
  const TuneCall call{.task = "matmul", .device = "local", .db = "tuning.db"};
  const auto says = [&](const char* text) { return report_of(report, call).find(text) != std::string::npos; };
  CHECK(says("nothing new was measured"));
  report.seconds.run = 0.3;
  CHECK_FALSE(says("nothing new was measured"));
  CHECK(says("no new trials: what was asked for is in the database already; only finals were still to be measured"));
  report.trouble = Error{ErrorCode::Unavailable, "the tracker is gone"};
  CHECK_FALSE(says("in the database already"));
}

}  // namespace farm
