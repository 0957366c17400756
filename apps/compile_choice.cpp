#include "apps/compile_choice.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/text.h"

namespace farm {
namespace {

constexpr const char* kDefaultDatabase = "tuning.db";

std::string on_threads(int threads) { return std::to_string(threads) + (threads == 1 ? " thread" : " threads"); }

// The target --------------------------------------------------------------------------------------------------------

TargetChoice with_cores(Target target) {
  int cores = target.cores;
  return {std::move(target), cores, true};
}

/// A record says what its device is, unless it came without (a line written by hand).
bool is_described(const Record& record) {
  return !record.device.features.empty() && record.device.text() == record.key.target;
}

struct KnownDevices {
  std::optional<Target> of_key, of_name;  ///< as last described
};

Result<KnownDevices> look_for(const std::string& name, const Records& records) {
  KnownDevices known;
  if (!records.store) return known;
  RecordFilter filter;
  filter.target = name;
  FARM_CHECK(records.store->scan(filter, [&](const Record& record) {
    if (!is_described(record)) return true;
    if (record.device_key == name) known.of_key = record.device;
    if (record.key.target == name || record.device.cpu == name) known.of_name = record.device;
    return true;
  }));
  return known;
}

Result<std::vector<std::string>> device_keys(const Records& records) {
  std::set<std::string> keys;
  if (!records.store) return std::vector<std::string>{};
  FARM_CHECK(records.store->scan({}, [&](const Record& record) {
    if (!record.device_key.empty() && record.device_key != "local") keys.insert(record.device_key);
    return true;
  }));
  return std::vector<std::string>(keys.begin(), keys.end());
}

Result<TargetChoice> unknown_target(const std::string& name, const Records& records) {
  FARM_TRY(std::vector<std::string> keys, device_keys(records));
  std::vector<std::string> possible = target_names();
  possible.insert(possible.end(), keys.begin(), keys.end());
  possible.push_back("local");
  std::string or_key = keys.empty() ? "the key of a device with records in " + records.path
                                    : "a device key in " + records.path + " (" + join(keys, ", ") + ")";
  return fail(ErrorCode::InvalidArgument, "unknown target \"", printable(name), "\"", did_you_mean(name, possible),
              "; it must be local, an isa level such as x86-64-v3, a cpu such as znver3, or ", or_key);
}

// The schedule ------------------------------------------------------------------------------------------------------

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

Result<TargetChoice> choose_target(const std::string& name, const Records& records) {
  Target host = describe_host();
  if (name == "local" || name == host.text() || name == host.cpu) return with_cores(std::move(host));
  FARM_TRY(KnownDevices known, look_for(name, records));
  if (known.of_key) return with_cores(*std::move(known.of_key));
  if (known.of_name) return with_cores(*std::move(known.of_name));
  auto target = target_from_name(name);
  if (target) return TargetChoice{*std::move(target), 1, false};
  bool is_pair = name.find('/') != std::string::npos;  // its error says what is wrong with which half
  return is_pair ? Result<TargetChoice>(std::unexpected(target.error())) : unknown_target(name, records);
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
