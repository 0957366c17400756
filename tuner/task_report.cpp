#include "tuner/task_report.h"

#include <algorithm>

namespace farm {
namespace {

// A later record says more than an earlier one, a final more than a trial.
void take_fallback(const Record& record, const std::string& candidate, std::optional<Record>& fallback) {
  if (record.measurement.outcome != Outcome::Ok || record.candidate != candidate) return;
  const bool was_final = fallback && fallback->role == Role::Final;
  if (record.role == Role::Final || !was_final) fallback = record;
}

/// What was measured interleaved with the best says more about it than what is newer: their ratio is the speed-up.
void take_fallback_beside_best(TaskReport& report, const std::vector<Record>& finals, const std::string& candidate) {
  if (!report.best) return;
  for (const Record& record : finals)
    if (record.candidate == candidate && record.run_id == report.best->run_id) report.fallback = record;
}

void find_ties(TaskReport& report, const std::vector<Record>& finals) {
  const auto fastest = std::ranges::min_element(finals, {}, [](const Record& r) { return r.measurement.latency_ns; });
  if (fastest == finals.end() || !report.best) return;
  for (const Record& record : finals)
    if (record.candidate != report.best->candidate && is_tie(*fastest, record)) report.ties.push_back(record);
}

}  // namespace

Result<TaskReport> report_task(const TaskTuning& task, RecordStore& store) {
  TaskReport report{.layer = task.layer(),
                    .key = task.key(),
                    .trials = task.trials(),
                    .measured_now = task.measured_now(),
                    .failed = task.failed(),
                    .exhausted = task.exhausted(),
                    .quality = task.strategy().model_quality(),
                    .first_error = task.first_error()};
  RecordFilter filter;
  filter.task = report.key.task;
  filter.target = report.key.target;
  filter.threads = report.key.threads;
  filter.only_ok = true;
  FARM_TRY(auto best, store.best(filter));
  std::erase_if(best, [&](const Record& record) { return record.key.target != report.key.target; });
  if (!best.empty()) report.best = std::move(best.front());

  std::vector<Record> finals;
  const std::string fallback = task.space().default_candidate().text();
  FARM_TRY(const auto scanned, store.scan(filter, [&](const Record& record) {
    if (record.key.target != report.key.target) return true;
    take_fallback(record, fallback, report.fallback);
    if (record.role == Role::Final) finals.push_back(record);
    return true;
  }));
  take_fallback_beside_best(report, finals, fallback);
  find_ties(report, finals);
  return report;
}

}  // namespace farm
