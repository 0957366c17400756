#include "apps/compile_choice.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/text.h"

namespace farm {
namespace {

constexpr const char* kDefaultDatabase = "tuning.db";

std::string on_threads(int threads) { return std::to_string(threads) + (threads == 1 ? " thread" : " threads"); }

/// Code for the device that was measured: its vectors are the ones that the schedule was made for.
const Target& target_of(const Record& record, const Target& wanted) {
  return is_described(record) && features_cover(wanted, record.device) ? record.device : wanted;
}

Result<ScheduleChoice> tuned_schedule(const Task& task, const Target& target, int threads, BestMatch match) {
  ScheduleChoice choice;
  choice.target = target_of(match.record, target);
  choice.exact = match.exact;
  FARM_TRY(choice.candidate, candidate_from_text(match.record.candidate));
  FARM_TRY(auto space, make_space(task, choice.target, threads));
  if (!space->contains(choice.candidate))
    return fail(ErrorCode::NotFound, "this version's space of schedules does not hold it");
  FARM_TRY(choice.program, instantiate(*space, choice.candidate));
  choice.record = std::move(match.record);
  return choice;
}

/// "; records of other numbers of threads are there: 1, 2"
Result<std::string> other_threads(const Task& task, const Target& target, RecordStore& store) {
  RecordFilter filter;
  filter.task = task.text();
  FARM_TRY(auto records, store.best(filter));
  std::set<int> threads;
  for (const Record& record : records)
    if (record.key.target == target.text()) threads.insert(record.key.threads);
  if (threads.empty()) return std::string();
  std::vector<std::string> texts;
  for (int count : threads) texts.push_back(std::to_string(count));
  return "; with --threads " + join(texts, " or ") + " there is one";
}

}  // namespace

Result<Records> open_records(const std::optional<std::string>& flag, Notes& notes) {
  Records records{nullptr, flag.value_or(kDefaultDatabase)};
  if (!flag && !std::filesystem::exists(records.path)) {
    notes.push_back("no database " + records.path + " here, so the default schedule is taken; tune writes one");
    return records;
  }
  FARM_TRY(records.store, open_store(records.path, OpenMode::ReadOnly));
  return records;
}

Result<ScheduleChoice> default_schedule(const Task& task, const Target& target, int threads) {
  ScheduleChoice choice;
  choice.target = target;
  FARM_TRY(auto space, make_space(task, target, threads));
  choice.candidate = space->default_candidate();
  auto program = instantiate(*space, choice.candidate);
  if (!program) return fail(ErrorCode::NoCandidate, "the default schedule does not work: ", program.error().message);
  choice.program = *std::move(program);
  return choice;
}

Result<std::string> missing_note(const Task& task, const Target& target, int threads, const Records& records) {
  FARM_TRY(std::string hint, other_threads(task, target, *records.store));
  return records.path + " has no record of " + task.text() + " for " + target.text() + " on " + on_threads(threads) +
         ", so the default schedule is taken" + hint;
}

Result<ScheduleChoice> choose_schedule(const Task& task, const Target& target, int threads, const Records& records,
                                       Notes& notes) {
  if (!records.store) return default_schedule(task, target, threads);
  FARM_TRY(auto match, best_for(*records.store, task.text(), target, threads));
  if (!match) {
    FARM_TRY(ScheduleChoice fallback, default_schedule(task, target, threads));
    fallback.missing = true;
    return fallback;
  }
  std::string record_hash_text = to_string(record_hash(match->record)), measured_on = match->record.key.target;
  bool exact = match->exact;
  auto tuned = tuned_schedule(task, target, threads, *std::move(match));
  if (!tuned) {
    notes.push_back("record " + record_hash_text +
                    " cannot be used, so the default schedule is taken: " + tuned.error().message);
    return default_schedule(task, target, threads);
  }
  if (!exact)
    notes.push_back(records.path + " has no record for " + target.text() + "; code and schedule are those of " +
                    measured_on + ", whose features are a subset");
  return tuned;
}

}  // namespace farm
