#include "apps/tune_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"

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
  std::string text = fmt::format("{:.4f} ms  {:.1f} GFLOP/s", m.latency_ns * 1e-6, gflops_of(record));
  if (record.peak_gflops > 0) text += fmt::format("  {:.0f} % of peak", 100 * gflops_of(record) / record.peak_gflops);
  return text + fmt::format("  (between {:.4f} and {:.4f} ms)", m.low_ns * 1e-6, m.high_ns * 1e-6);
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
    text += fmt::format("  a tie within noise, less simple: {:.4f} ms  {}\n", tie.measurement.latency_ns * 1e-6,
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
    text += fmt::format("{:>9.4f} ms {:>7.1f} GFLOP/s", best_ns * 1e-6, gflops_of(*task.best));
    text += task.best->peak_gflops > 0
                ? fmt::format(" {:>3.0f} % of peak", 100 * gflops_of(*task.best) / task.best->peak_gflops)
                : "";
    text += fmt::format("  {:>5.2f} times the default's speed  {:>4} trials, {} now, {}\n", fallback_ns / best_ns,
                        task.trials, task.measured_now, failure_words(task.failed));
  }
  return text + fmt::format("  all layers: {:.3f} ms, {:.2f} times as fast as with default schedules\n",
                            total_ns * 1e-6, default_ns / std::max(total_ns, 1.0));
}

std::string time_text(const TuneReport& report) {
  if (report.measured_now == 0) {
    return report.end == TuneReport::End::Stopped
               ? ""
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

std::string quoted(const std::string& word) {
  return word.find_first_of("()' \"*?&;<>|$") == std::string::npos ? word : "'" + word + "'";
}

std::string next_text(const TuneReport& report, const TuneCall& call) {
  const TaskReport& first = report.tasks.front();
  const std::string db = call.db == "tuning.db" ? "" : " --db " + quoted(call.db);
  std::string text = "next:\n";
  if (first.best && report.tasks.size() == 1)
    text += fmt::format("  {}compile {} --target {} --threads {}{} --name my_{} -o my_{}.so --header my_{}.h\n",
                        call.prefix, call.task_words, first.key.target, call.threads, db, first.layer.task.op,
                        first.layer.task.op, first.layer.task.op);
  text += fmt::format("  {}tuning_db best{}\n", call.prefix, db);
  size_t trials = 0;
  for (const TaskReport& task : report.tasks) trials += task.trials;
  const bool more_to_find = std::ranges::any_of(report.tasks, [](const TaskReport& task) { return !task.exhausted; });
  if (!more_to_find) return text;
  const size_t more = std::max<size_t>(100, (trials * 2 + 99) / 100 * 100);
  return text + fmt::format("  {}tune {} --device {}{}{} --trials {}\n", call.prefix, call.task_words,
                            quoted(call.device), call.tracker.empty() ? "" : " --tracker " + call.tracker, db, more);
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
