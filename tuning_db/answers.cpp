#include "tuning_db/answers.h"

#include <optional>

#include "base/log.h"
#include "tuning_db/rows.h"
#include "tuning_db/ties.h"

namespace farm {
namespace {

/// Nothing when its content is damaged.
Result<std::optional<Record>> read_row(const Connection& connection, int64_t id) {
  FARM_TRY(Statement row, connection.prepare(std::string("SELECT ") + kRowColumns + " WHERE id = ?"));
  row.bind(0, id);
  FARM_TRY(bool found, row.step());
  if (!found) return fail(ErrorCode::Corrupt, "database ", connection.path(), " is damaged: an index names no record");
  auto record = record_from_row(row);
  if (record) return std::optional(*std::move(record));
  log_event(LogLevel::Warning, "damaged_record_skipped",
            {{"database", connection.path()}, {"record", std::to_string(id)}, {"why", record.error().message}});
  return std::optional<Record>();
}

Result<std::string> default_candidate(const Connection& connection, const RecordKey& key) {
  FARM_TRY(Statement last, connection.prepare("SELECT candidate FROM records WHERE task = ? AND target = ? AND "
                                              "threads = ? AND role = 'default' ORDER BY id DESC LIMIT 1"));
  last.bind(0, key.task);
  last.bind(1, key.target);
  last.bind(2, int64_t{key.threads});
  FARM_TRY(bool found, last.step());
  return found ? std::string(last.text(0)) : "";
}

Result<Record> simplest(const Connection& connection, const std::vector<Record>& ties) {
  if (ties.size() == 1) return ties.front();
  FARM_TRY(std::string fallback, default_candidate(connection, ties.front().key));
  return simplest_of(ties, fallback);
}

bool same_key(const Statement& row, const Record& record) {
  return row.text(1) == record.key.task && row.text(2) == record.key.target && row.integer(3) == record.key.threads;
}

/// An index that says something else than the record would rank it where it does not belong.
bool agrees(const Statement& row, const Record& record) {
  return same_key(row, record) && row.text(4) == to_string(record.role) && row.real(5) == record.measurement.latency_ns;
}

}  // namespace

/// Rows of a key come fastest first, finals before others: the first one that can be read, then those that tie with it.
Result<std::vector<Record>> best_rows(const Connection& connection, const RecordFilter& filter) {
  RecordFilter good = filter;
  good.only_ok = true;
  Where where = where_from_filter(good);
  FARM_TRY(Statement rows,
           connection.prepare(
               "SELECT id, task, target, threads, role, latency_ns FROM records" + where.sql +
               " ORDER BY task, target, threads, role = 'final' DESC, latency_ns, length(candidate), candidate, id"));
  where.bind(rows);
  std::vector<Record> winners, ties;
  for (;;) {
    FARM_TRY(bool more, rows.step());
    if (!ties.empty() && !(more && same_key(rows, ties.front()))) {
      FARM_TRY(winners.emplace_back(), simplest(connection, ties));
      ties.clear();
    }
    if (!more) return winners;
    bool may_tie = ties.empty() || (ties.front().role == Role::Final && rows.text(4) == "final");
    if (!may_tie) continue;
    FARM_TRY(std::optional<Record> record, read_row(connection, rows.integer(0)));
    if (record && !agrees(rows, *record))
      return fail(ErrorCode::Corrupt, "database ", connection.path(),
                  " is damaged: an index disagrees with its record");
    if (record && (ties.empty() || is_tie(ties.front(), *record))) ties.push_back(*std::move(record));
  }
}

Result<RecordStore::Spent> spent_on(const Connection& connection, const RecordKey& key) {
  FARM_TRY(Statement sums,
           connection.prepare("SELECT count(*) FILTER (WHERE role = 'trial'), total(spent_ns) FROM records"
                              " WHERE task = ? AND target = ? AND threads = ? AND policy = ?"));
  sums.bind(0, key.task);
  sums.bind(1, key.target);
  sums.bind(2, int64_t{key.threads});
  sums.bind(3, key.policy);
  FARM_CHECK(sums.step());
  return RecordStore::Spent{size_t(sums.integer(0)), sums.real(1) * 1e-9};
}

}  // namespace farm
