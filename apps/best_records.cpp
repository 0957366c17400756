#include "apps/best_records.h"

#include <map>
#include <set>

namespace farm {
namespace {

using Question = std::pair<std::string, int>;  // task and threads

/// What records of any target could answer.
Result<std::set<Question>> questions(RecordFilter filter, RecordStore& store) {
  filter.target.reset();
  filter.only_ok = true;
  std::set<Question> all;
  FARM_CHECK(store.scan(filter, [&](const Record& record) {
    all.emplace(record.key.task, record.key.threads);
    return true;
  }));
  return all;
}

/// One line for each device whose records stand in, however many tasks they are of.
void note_subsets(const std::map<std::string, size_t>& tasks_of, const std::string& wanted, const std::string& path,
                  Notes& notes) {
  for (const auto& [measured_on, count] : tasks_of)
    notes.push_back(path + " has no record of " + std::to_string(count) + (count == 1 ? " task" : " tasks") + " for " +
                    wanted + "; taken are those of " + measured_on + ", whose features are a subset");
}

}  // namespace

Result<std::vector<Record>> best_records(const RecordFilter& filter, const RecordSource& source, Notes& notes) {
  FARM_TRY(std::vector<Record> best, source.store->best(filter));
  if (!filter.target) return best;
  FARM_TRY(std::set<Question> open, questions(filter, *source.store));
  for (const Record& record : best) open.erase({record.key.task, record.key.threads});
  if (open.empty()) return best;
  auto target = choose_target(*filter.target, source);
  if (!target) {  // a name may be the key of a device that has no records yet: nothing is found, and that is no mistake
    notes.push_back(target.error().message);
    return best;
  }
  std::map<std::string, size_t> tasks_of;
  for (const auto& [task, threads] : open) {
    FARM_TRY(auto match, best_for(*source.store, task, target->target, threads));
    if (!match) continue;
    ++tasks_of[match->record.key.target];
    best.push_back(std::move(match->record));
  }
  note_subsets(tasks_of, target->target.text(), source.path, notes);
  return best;
}

}  // namespace farm
