// What `compile` has to decide before it generates code: for which target, on how many threads, with which schedule.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/target_choice.h"
#include "schedule/schedule.h"
#include "tuning_db/tuning_db.h"

namespace farm {

/// Records to choose from: null when `flag` is empty and there is no tuning.db in the current folder, which is said.
/// NotFound when the file that a person named is not there.
struct Records {
  std::unique_ptr<RecordStore> store;  ///< may be null
  std::string path;
  RecordSource source() const { return {store.get(), path}; }
};
Result<Records> open_records(const std::optional<std::string>& flag, Notes& notes);

/// The schedule to generate code from, and where it came from.
struct ScheduleChoice {
  Target target;  ///< that code is for: with a record, the device that it was measured on
  Candidate candidate;
  std::optional<Record> record;  ///< none: the default schedule
  bool exact = true;             ///< false: the record is of another CPU whose features the target has
  bool missing = false;          ///< the database has no record; see missing_note
  Program program;
};
/// The best record of the exact CPU, then of a CPU with a subset of the features, then the default schedule; whatever
/// is not the first is noted, or `missing`. NoCandidate when even the default schedule cannot be made.
Result<ScheduleChoice> choose_schedule(const Task& task, const Target& target, int threads, const Records& records,
                                       Notes& notes);
/// "tuning.db has no record of ... for ... on 1 thread, so the default schedule is taken; with --threads 2 there is
/// one"
Result<std::string> missing_note(const Task& task, const Target& target, int threads, const Records& records);
Result<ScheduleChoice> default_schedule(const Task& task, const Target& target, int threads);

}  // namespace farm
