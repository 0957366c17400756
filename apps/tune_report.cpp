#include "apps/tune_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/shell_word.h"
#include "base/text.h"
#include "target/target.h"

namespace farm {
namespace {

using Json = nlohmann::ordered_json;

double gflops_of(const Record& record) { return record.flops / record.measurement.latency_ns; }

// JSON ------------------------------------------------------------

Json json_of(const std::optional<Record>& record) {
  if (!record) return nullptr;
  const Measurement& m = record->measurement;
  Json json{{"candidate", record->candidate}, {"latency_ns", m.latency_ns},
            {"median_ns", m.median_ns},       {"interval_ns", {m.low_ns, m.high_ns}},
            {"prepack_ns", m.prepack_ns},     {"gflops", gflops_of(*record)},
            {"share_of_peak", nullptr}};
  if (record->peak_gflops > 0) json["share_of_peak"] = gflops_of(*record) / record->peak_gflops;
  return json;
}

Json json_of(const std::map<Outcome, size_t>& failed) {
  Json json = Json::object();
  for (const auto& [outcome, count] : failed) json[to_string(outcome)] = count;
  return json;
}

Json json_of(const std::optional<ModelQuality>& quality) {
  if (!quality) return nullptr;
  return {{"pairwise", quality->pairwise}, {"peak1", quality->peak1}, {"peak5", quality->peak5}};
}

Json json_of(const TuneSeconds& s) {
  return {{"propose", s.propose}, {"build", s.build}, {"transfer", s.transfer}, {"run", s.run}, {"learn", s.learn}};
}

Json json_of(const TaskReport& task) {
  return {{"task", task.key.task},      {"target", task.key.target},         {"threads", task.key.threads},
          {"trials", task.trials},      {"measured_now", task.measured_now}, {"failed", json_of(task.failed)},
          {"best", json_of(task.best)}, {"default", json_of(task.fallback)}, {"cost_model", json_of(task.quality)}};
}

// One document for a network: the sums, and each task's own.
Json network_document(const TuneReport& report) {
  std::map<Outcome, size_t> failed;
  Json tasks = Json::array();
  size_t trials = 0;
  double network_ns = 0;
  bool complete = true;
  for (const TaskReport& task : report.tasks) {
    Json one = json_of(task);
    one["layer"] = task.layer.name;
    one["occurrences"] = task.layer.occurrences;
    tasks.push_back(std::move(one));
    trials += task.trials;
    for (const auto& [outcome, count] : task.failed) failed[outcome] += count;
    if (task.best) network_ns += task.layer.occurrences * task.best->measurement.latency_ns;
    complete = complete && task.best;
  }
  Json document{
      {"trials", trials}, {"measured_now", report.measured_now}, {"failed", json_of(failed)}, {"network_ns", nullptr}};
  if (complete) document["network_ns"] = network_ns;
  document["tasks"] = std::move(tasks);
  return document;
}

const char* word_of(TuneReport::End end) {
  switch (end) {
    case TuneReport::End::Budget:
      return "budget";
    case TuneReport::End::Exhausted:
      return "exhausted";
    case TuneReport::End::NoProgress:
      return "no_progress";
    case TuneReport::End::Stopped:
      return "stopped";
  }
  return "";
}

// Text ------------------------------------------------------------

// "direct{tile_k=16,tile_x=7}" as "direct: tile_k 16, tile_x 7"
std::string in_words(const std::string& text) {
  const auto candidate = candidate_from_text(text);
  if (!candidate) return text;
  std::vector<std::string> choices;
  for (const auto& [name, value] : candidate->choices) choices.push_back(fmt::format("{} {}", name, value));
  return candidate->variant + ": " + join(choices, ", ");
}

std::string figures(const Record& record) {
  const Measurement& m = record.measurement;
  std::string text = fmt::format("{}  {:.1f} GFLOP/s", format_latency(m.latency_ns), gflops_of(record));
  if (record.peak_gflops > 0) text += fmt::format("  {:.0f} % of peak", 100 * gflops_of(record) / record.peak_gflops);
  return text + fmt::format("  (between {} and {})", format_latency(m.low_ns), format_latency(m.high_ns));
}

std::string failure_words(const std::map<Outcome, size_t>& failed) {
  std::vector<std::string> kinds;
  for (const auto& [outcome, count] : failed) kinds.push_back(fmt::format("{} {}", count, to_string(outcome)));
  return kinds.empty() ? "none failed" : "failed: " + join(kinds, ", ");
}

std::string comparison(const TaskReport& task) {
  if (!task.best || !task.fallback) return "";
  if (task.best->candidate == task.fallback->candidate) return "  nothing beats the default schedule\n";
  return fmt::format("  {:.2f} times as fast as the default schedule\n",
                     task.fallback->measurement.latency_ns / task.best->measurement.latency_ns);
}

std::string task_text(const TaskReport& task) {
  std::string text = fmt::format("{}\n  on {} with {} thread{}: {} trials, {} of them now, {}\n", task.key.task,
                                 task.key.target, task.key.threads, task.key.threads == 1 ? "" : "s", task.trials,
                                 task.measured_now, failure_words(task.failed));
  if (!task.best) return text + "  no candidate worked: " + printable(task.first_error) + "\n";
  text += fmt::format("  best     {}\n           {}\n", figures(*task.best), in_words(task.best->candidate));
  if (task.fallback) text += fmt::format("  default  {}\n", figures(*task.fallback));
  text += comparison(task);
  for (const Record& tie : task.ties)
    text += fmt::format("  a tie within noise, less simple: {}  {}\n", format_latency(tie.measurement.latency_ns),
                        in_words(tie.candidate));
  if (task.exhausted) text += "  every candidate of the space was measured\n";
  return text;
}

std::string model_text(const TuneReport& report) {
  std::vector<std::string> lines;
  for (const TaskReport& task : report.tasks) {
    if (!task.quality) continue;
    lines.push_back(fmt::format(
        "{}orders {:.0f} % of pairs rightly; its first choice reaches {:.0f} % of the best, its first five {:.0f} %",
        report.tasks.size() > 1 ? task.layer.name + " " : "", 100 * task.quality->pairwise, 100 * task.quality->peak1,
        100 * task.quality->peak5));
  }
  if (lines.empty()) return "";
  return "cost model, on candidates it had not seen: " + join(lines, "\n  ") + "\n";
}

std::string network_text(const TuneReport& report, const Network& network) {
  std::string text = network.title + "\n";
  double total_ns = 0, default_ns = 0;
  for (const TaskReport& task : report.tasks) {
    const double best_ns = task.best ? task.best->measurement.latency_ns : 0;
    const double fallback_ns = task.fallback ? task.fallback->measurement.latency_ns : best_ns;
    total_ns += task.layer.occurrences * best_ns;
    default_ns += task.layer.occurrences * fallback_ns;
    text += fmt::format("  {:<28} {:>2} x ", task.layer.name, task.layer.occurrences);
    if (!task.best) {
      text += "no candidate worked: " + printable(task.first_error) + "\n";
      continue;
    }
    text += fmt::format("{:>9} {:>7.1f} GFLOP/s", format_latency(best_ns), gflops_of(*task.best));
    text += task.best->peak_gflops > 0
                ? fmt::format(" {:>3.0f} % of peak", 100 * gflops_of(*task.best) / task.best->peak_gflops)
                : "";
    text += fmt::format("  {:>5.2f} times the default's speed  {:>4} trials, {} now, {}\n", fallback_ns / best_ns,
                        task.trials, task.measured_now, failure_words(task.failed));
  }
  return text + fmt::format("  all layers: {}, {:.2f} times as fast as with default schedules\n",
                            format_latency(total_ns), default_ns / std::max(total_ns, 1.0));
}

std::string time_text(const TuneReport& report) {
  if (report.measured_now == 0) {
    if (report.end == TuneReport::End::Stopped || report.trouble) return "";
    return report.seconds.run > 0
               ? "no new trials: what was asked for is in the database already; only finals were still to be measured\n"
               : "nothing new was measured: what was asked for is in the database already\n";
  }
  const TuneSeconds& s = report.seconds;
  return fmt::format(
      "{:.1f} candidates/s; seconds: propose {:.1f}, build {:.1f}, transfer {:.1f}, run {:.1f}, learn {:.1f}\n",
      report.candidates_per_s, s.propose, s.build, s.transfer, s.run, s.learn);
}

std::string end_text(const TuneReport& report) {
  if (report.end == TuneReport::End::Stopped)
    return "stopped; everything measured is stored, the same command goes on from here\n";
  if (report.end == TuneReport::End::NoProgress) return "ended early: no progress for half of the trials\n";
  return "";
}

// Commands ------------------------------------------------------------

std::string task_words(const TuneCall& call) {
  std::string text = "--task " + shell_word(call.task);
  if (call.shape) text += " --shape " + shell_word(*call.shape);
  if (call.constant) text += " --constant " + shell_word(*call.constant);
  return text;
}

std::string db_words(const TuneCall& call) { return call.db == "tuning.db" ? "" : " --db " + shell_word(call.db); }

/// Whether a library for the target can be made on this machine: the threads that it carries are of this one's ISA.
bool can_compile_here(const std::string& target_text) {
  const auto target = target_from_name(target_text);
  return target && isa_family(target->isa) == isa_family(describe_host().isa);
}

/// The layer on which most of the network's time is spent.
const TaskReport* most_costly(const TuneReport& report) {
  const auto cost = [](const TaskReport& task) {
    return task.best ? task.layer.occurrences * task.best->measurement.latency_ns : 0.0;
  };
  const auto found = std::ranges::max_element(report.tasks, {}, cost);
  return found->best ? &*found : nullptr;
}

std::string compile_command(const TuneReport& report, const TuneCall& call) {
  const TaskReport* task = most_costly(report);
  if (!task || !can_compile_here(task->key.target)) return "";
  const bool network = report.tasks.size() > 1;
  std::string text = fmt::format("  {}compile {} --target {} --threads {}{}", call.prefix,
                                 network ? "--task " + shell_word(task->layer.name) : task_words(call),
                                 shell_word(task->key.target), task->key.threads, db_words(call));
  const std::string& op = task->layer.task.op;
  if (!network) text += fmt::format(" --name my_{0} -o my_{0}.so --header my_{0}.h", op);
  return text + "\n";
}

/// Twice the trials there are, where there is more to find.
std::string tune_command(const TuneReport& report, const TuneCall& call) {
  if (std::ranges::all_of(report.tasks, &TaskReport::exhausted)) return "";
  size_t trials = 0;
  for (const TaskReport& task : report.tasks) trials += task.trials;
  std::string text = fmt::format("  {}tune {} --device {}", call.prefix, task_words(call), shell_word(call.device));
  if (!call.tracker.empty()) text += " --tracker " + shell_word(call.tracker);
  if (call.threads) text += fmt::format(" --threads {}", *call.threads);
  return text + db_words(call) + fmt::format(" --trials {}\n", std::max<size_t>(100, (trials * 2 + 99) / 100 * 100));
}

std::string next_text(const TuneReport& report, const TuneCall& call) {
  const TaskReport* costly = report.tasks.size() > 1 ? most_costly(report) : nullptr;
  return (costly ? "next; most of the time goes into " + costly->layer.name + ":\n" : "next:\n") +
         compile_command(report, call) + fmt::format("  {}tuning_db best{}\n", call.prefix, db_words(call)) +
         tune_command(report, call);
}

}  // namespace

std::string tune_report_json(const TuneReport& report, const Network&) {
  Json document = report.tasks.size() == 1 ? json_of(report.tasks.front()) : network_document(report);
  document["candidates_per_s"] = report.candidates_per_s > 0 ? Json(report.candidates_per_s) : Json(nullptr);
  document["seconds"] = json_of(report.seconds);
  document["ended"] = report.trouble ? "trouble" : word_of(report.end);
  return document.dump(2) + "\n";
}

std::string tune_report_text(const TuneReport& report, const Network& network, const TuneCall& call) {
  std::string text = report.tasks.size() == 1 ? task_text(report.tasks.front()) : network_text(report, network);
  return text + time_text(report) + model_text(report) + end_text(report) + next_text(report, call);
}

}  // namespace farm
