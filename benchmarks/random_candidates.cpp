// Correctness of random (shape, candidate) pairs of every template, built, run and compared with the reference.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "apps/cli.h"
#include "tests/conformance/random_pairs.h"

namespace farm {
namespace {

void print_json(const PairReport& report, uint64_t seed) {
  nlohmann::json document{{"pairs", report.pairs}, {"wrong", report.wrong.size()}, {"seed", seed}};
  document["failures"] = nlohmann::json::array();
  for (const WrongPair& wrong : report.wrong)
    document["failures"].push_back({{"task", wrong.task},
                                    {"target", wrong.target},
                                    {"threads", wrong.threads},
                                    {"candidate", wrong.candidate},
                                    {"reason", wrong.reason}});
  std::puts(document.dump(2).c_str());
}

void print_text(const PairReport& report, uint64_t seed) {
  for (const WrongPair& wrong : report.wrong) std::printf("%s\n", to_string(wrong).c_str());
  std::printf("%zu pairs, %zu wrong (seed %llu)\n", report.pairs, report.wrong.size(),
              static_cast<unsigned long long>(seed));
}

int run(int argc, char** argv) {
  auto device = make_cpu_device();  // before anything else: it forks
  PairOptions options;
  bool json = false;
  CLI::App app("Compares random candidates of every template with the reference", "random-candidates");
  in_range(app.add_option("--pairs", options.pairs, "How many (shape, candidate) pairs [200]"), 1, 10'000'000);
  in_range(app.add_option("--seed", options.seed, "Where chance begins [1]"), 0, UINT64_MAX);
  app.add_option("--op", options.ops, "Only these operators")->delimiter(',');
  app.add_flag("--json", json, "One JSON document on standard output");
  if (auto code = parse_command_line(app, argc, argv)) return *code;
  if (!device) return report_error("random-candidates", device.error());
  if (isatty(STDERR_FILENO)) options.progress = [](size_t done) { std::fprintf(stderr, "\r%zu pairs", done); };
  auto report = run_random_pairs(**device, options);
  if (options.progress) std::fputs("\r\033[K", stderr);
  if (!report) return report_error("random-candidates", report.error());
  json ? print_json(*report, options.seed) : print_text(*report, options.seed);
  return report->wrong.empty() ? 0 : 1;
}

}  // namespace
}  // namespace farm

int main(int argc, char** argv) { return farm::run(argc, argv); }
