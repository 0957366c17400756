// tune: searches for the fastest schedule of a task on a device.
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <random>

#include "apps/cli.h"
#include "apps/embedded_farm.h"
#include "apps/host_facts.h"
#include "apps/shell_word.h"
#include "apps/standard_output.h"
#include "apps/tracker_address.h"
#include "apps/tune_options.h"
#include "apps/tune_report.h"
#include "apps/tune_view.h"
#include "base/text.h"

namespace farm {
namespace {

constexpr std::string_view kBuildWorker = "--build-worker";  // hidden: what the build pool starts

// Ctrl-C: the first asks for an end with everything stored, the second is an end at once.
volatile std::sig_atomic_t stop_asked = 0;

void on_stop_signal(int) {
  if (stop_asked) _exit(130);
  stop_asked = 1;
}

bool stop_is_asked() { return stop_asked != 0; }

void take_signals() {
  struct sigaction action{};
  action.sa_handler = on_stop_signal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

std::string new_run_id() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}", device(), device());
}

// The local device needs nobody's tracker; one that is named is used all the same.
Result<std::optional<EmbeddedFarm>> embed_farm(const TuneFlags& flags) {
  if (flags.device != "local" || !flags.tracker.empty()) return std::nullopt;
  FARM_TRY(auto farm, EmbeddedFarm::start(flags.device));
  return std::optional(std::move(farm));
}

FarmRunnerOptions runner_options(const TuneFlags& flags, const TuneRequest& request, TuneView& view) {
  FarmRunnerOptions options{.key = flags.device, .user = user_text(), .unknown_key_wait = request.wait};
  options.stopped = stop_is_asked;
  options.on_trouble = [&view](const std::string& text) { view.note(text); };
  options.on_waiting = [&view, key = printable(flags.device)](const QueuePosition& position) {
    if (!position.connected)
      view.passing("waiting for the tracker to come back");
    else if (position.devices == 0)
      view.passing("waiting for a device to register as " + key);
    else if (position.position > 0)
      view.passing(fmt::format("waiting for a device of {}: position {} in the queue, {} device{}", key,
                               position.position, position.devices, position.devices == 1 ? "" : "s"));
  };
  return options;
}

std::string plan_text(const TuneFlags& flags, const TuneRequest& request, const Runner& runner, int threads) {
  const Network& network = request.network;
  std::string text = network.layers.size() == 1
                         ? "tuning " + network.layers.front().task.text()
                         : fmt::format("tuning {}, {} distinct layers", network.title, network.layers.size());
  if (const auto title = default_title(flags.task); !flags.shape && title)
    text += fmt::format(" ({}; --shape gives another)", *title);
  return text + fmt::format("\non {} ({}) with {} thread{}", runner.device_id(), runner.target().text(), threads,
                            threads == 1 ? "" : "s");
}

std::string budget_text(const TuneRequest& request) {
  if (!request.budget_given) return "no budget given: about 1 minute; use --trials or --time for more";
  std::vector<std::string> words;
  if (request.budget.trials) words.push_back(fmt::format("{} trials", *request.budget.trials));
  if (request.budget.time) words.push_back(format_duration(*request.budget.time) + " of tuning");
  return "until " + join(words, " or ") + " are stored, earlier ones included";
}

// As this program was called, so are its companions: through the launcher, which tells how it was called itself, by the
// path of their folder, or by name alone.
std::string call_prefix(std::string_view self) {
  const char* launcher = std::getenv("TUNEFARM_LAUNCHER");
  if (launcher && *launcher) return shell_word(launcher) + " ";
  const size_t slash = self.rfind('/');
  return slash == std::string_view::npos ? "" : shell_word(self.substr(0, slash + 1));
}

TuneCall call_of(const TuneFlags& flags, std::string_view self) {
  return {.prefix = call_prefix(self),
          .task = flags.task,
          .shape = flags.shape,
          .constant = flags.constant,
          .device = flags.device,
          .tracker = flags.tracker,
          .db = flags.db,
          .threads = flags.threads};
}

// A task without any working candidate is a failure, whatever else was found.
Status judge(const TuneReport& report) {
  if (report.end == TuneReport::End::Stopped) return fail(ErrorCode::Interrupted, "stopped");
  if (report.trouble) return std::unexpected(*report.trouble);
  for (const TaskReport& task : report.tasks)
    if (!task.best)
      return fail(ErrorCode::NoCandidate, "no candidate of ", task.key.task,
                  " worked; the first: ", printable(task.first_error));
  return {};
}

// The database of a run that could not begin is not left behind empty.
class FreshDatabase {
 public:
  explicit FreshDatabase(std::string path) : path_(std::move(path)), existed_(std::filesystem::exists(path_)) {}
  ~FreshDatabase() {
    std::error_code ignored;
    if (!existed_ && !begun_) std::filesystem::remove(path_, ignored);
  }
  FreshDatabase(const FreshDatabase&) = delete;
  FreshDatabase& operator=(const FreshDatabase&) = delete;
  void begin() { begun_ = true; }

 private:
  std::string path_;
  bool existed_, begun_ = false;
};

// Everything is built and handed to the loop here, and ends in the opposite order.
Status run(const TuneFlags& flags, const TuneRequest& request, std::string_view self) {
  SteadyClock clock;
  TuneView view(isatty(STDERR_FILENO) != 0, clock);
  FreshDatabase database(flags.db);
  FARM_TRY(auto store, open_store(flags.db, OpenMode::ReadWrite));
  FARM_TRY(auto farm, embed_farm(flags));

  FarmRunnerOptions options = runner_options(flags, request, view);
  if (farm) {
    options.tracker = farm->tracker();
    options.revive = [&farm] { return farm->revive(); };
    options.on_waiting = {};  // the device is ours, and about to register
  } else {
    FARM_TRY(options.tracker, tracker_address(flags.tracker));
  }
  FARM_TRY(auto runner, FarmRunner::connect(std::move(options), clock));
  view.clear();

  const int threads = request.threads.value_or(runner->target().cores);
  const TuneOptions tuning{.layers = request.network.layers,
                           .threads = threads,
                           .seed = flags.seed,
                           .strategy = flags.strategy,
                           .budget = request.budget,
                           .device_key = flags.device,
                           .run_id = new_run_id(),
                           .environment = host_facts()};
  FARM_CHECK(check_threads(tuning, runner->target()));
  BuildPool builders({.command = {program_beside_this("tune"), std::string(kBuildWorker)}, .workers = usable_cores()});
  view.note(plan_text(flags, request, *runner, threads));
  view.note(budget_text(request));

  auto on_progress = [&](const TuneProgress& progress) {
    database.begin();
    view.show(progress);
  };
  const TuneParts parts{builders, *runner, *store, clock, on_progress, stop_is_asked};
  FARM_TRY(const TuneReport report, tune(tuning, parts));
  view.clear();
  const std::string text = flags.json ? tune_report_json(report, request.network)
                                      : tune_report_text(report, request.network, call_of(flags, self));
  const Status printed = print(text);
  FARM_CHECK(judge(report));  // says more than that nobody could be told
  return printed;
}

int run_tune(int argc, char** argv) {
  TuneFlags flags;
  CLI::App app("Searches for the fastest schedule of a task on a device; every measurement is kept in a database.",
               "tune");
  add_tune_flags(app, flags);
  if (auto code = parse_command_line(app, argc, argv)) return *code;
  if (flags.list) {
    const Status printed = print(list_tasks(flags.json));
    return printed ? 0 : report_error("tune", printed.error());
  }
  const auto request = check_tune_flags(flags);
  if (!request) return report_error("tune", request.error());
  take_signals();
  const Status done = run(flags, *request, argv[0]);
  return done ? 0 : report_error("tune", done.error());
}

int run_build_worker(const char* parent) {
  const auto backend = make_llvm_backend();
  serve_build_jobs(STDIN_FILENO, static_cast<int>(parse_int(parent).value_or(0)), *backend);
  return 0;
}

}  // namespace
}  // namespace farm

int main(int argc, char** argv) {
  if (argc == 3 && argv[1] == farm::kBuildWorker) return farm::run_build_worker(argv[2]);
  return farm::run_tune(argc, argv);
}
