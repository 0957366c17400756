#include "tuning_db/sqlite_writer.h"

#include <sqlite3.h>

#include "tuning_db/answers.h"
#include "tuning_db/damage.h"
#include "tuning_db/identity.h"
#include "tuning_db/record_json.h"
#include "tuning_db/rows.h"
#include "tuning_db/scan.h"
#include "tuning_db/sqlite_reader.h"
#include "tuning_db/writer_lock.h"

namespace farm {
namespace {

constexpr int64_t kQuickCheckBytes = 32 << 20;  // smaller files are checked when they are opened: at most some 50 ms

class SqliteWriter final : public RecordStore {
 public:
  SqliteWriter(std::unique_ptr<Connection> connection, WriterLock lock)
      : lock_(std::move(lock)), connection_(std::move(connection)) {}

  Result<size_t> append(const std::vector<Record>& records) override { return or_refuse(append_batch(records)); }
  Result<ScanReport> scan(const RecordFilter& filter, const std::function<bool(const Record&)>& each) override {
    return or_refuse(scan_all(filter, each));
  }
  Result<std::vector<Record>> best(const RecordFilter& filter) override {
    return or_refuse(best_rows(*connection_, filter));
  }
  Result<Spent> spent(const RecordKey& key) override { return or_refuse(spent_on(*connection_, key)); }
  Result<std::vector<std::string>> check_structure() override { return structure_problems(*connection_, Check::Whole); }

 private:
  Result<size_t> append_batch(const std::vector<Record>& records);
  Result<size_t> insert_all(const std::vector<Record>& records);
  Result<ScanReport> scan_all(const RecordFilter& filter, const std::function<bool(const Record&)>& each);

  /// Damage that a large file shows only where it is touched.
  template <class Answer>
  Result<Answer> or_refuse(Result<Answer> answer) const {
    if (answer || answer.error().code != ErrorCode::Corrupt) return answer;
    return refuse_writing(connection_->path(), answer.error().message);
  }

  WriterLock lock_;  // let go after the connection is closed
  std::unique_ptr<Connection> connection_;
};

Result<size_t> SqliteWriter::append_batch(const std::vector<Record>& records) {
  std::vector<Record> ready;
  for (const Record& record : records) {
    FARM_TRY(Record checked, storable(record));
    ready.push_back(std::move(checked));
  }
  FARM_CHECK(connection_->execute("BEGIN IMMEDIATE"));
  auto added = insert_all(ready);
  if (added) {
    if (auto committed = connection_->execute("COMMIT"); !committed) added = std::unexpected(committed.error());
  }
  // Some errors have rolled back by themselves already.
  if (!added && connection_->in_transaction()) (void)connection_->execute("ROLLBACK");
  return added;
}

Result<size_t> SqliteWriter::insert_all(const std::vector<Record>& records) {
  FARM_TRY(Statement insert, connection_->prepare(kInsertSql));
  size_t added = 0;
  for (const Record& record : records) {
    bind_record(insert, record);
    FARM_CHECK(insert.run());
    added += size_t(connection_->changes());
  }
  return added;
}

Result<RecordStore::ScanReport> SqliteWriter::scan_all(const RecordFilter& filter,
                                                       const std::function<bool(const Record&)>& each) {
  ScanReport report;
  FARM_TRY(Passage passage,
           read_rows(*connection_, filter, Order::OldestFirst, [&](const Record& record, const RowName&) {
             ++report.read;
             return each(record);
           }));
  if (passage.torn) return fail(ErrorCode::Corrupt, "a page of its records cannot be read");
  report.damaged = lines_of(passage);
  return report;
}

// Opening ----------------------------------------------------------------------------------------------------------

Status quick_check(const Connection& connection) {
  FARM_TRY(int64_t bytes,
           connection.number("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"));
  if (bytes > kQuickCheckBytes) return {};
  FARM_TRY(auto problems, structure_problems(connection, Check::Quick));
  if (problems.empty()) return {};
  return fail(ErrorCode::Corrupt, problems.front());
}

/// The log makes readers independent of the writer; FULL makes a commit survive a loss of power.
Status prepare(const Connection& connection) {
  FARM_TRY(bool blank, is_blank(connection));
  if (!blank) FARM_CHECK(check_version(connection));
  FARM_CHECK(connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL"));
  return blank ? create_schema(connection) : quick_check(connection);
}

}  // namespace

Result<std::unique_ptr<RecordStore>> open_writer(const DatabaseFiles& files) {
  FARM_CHECK(check_writable(files));
  FARM_TRY(WriterLock lock, WriterLock::acquire(files.path));
  FARM_TRY(auto connection,
           Connection::open(files.path, uri_of(files.real, ""), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  auto prepared = prepare(*connection);
  if (prepared) return std::make_unique<SqliteWriter>(std::move(connection), std::move(lock));
  connection.reset();
  // Ours and damaged, when a reader finds records in it; otherwise what was said of it holds.
  if (prepared.error().code != ErrorCode::Corrupt || !open_reader(files)) return std::unexpected(prepared.error());
  return refuse_writing(files.path, prepared.error().message);
}

}  // namespace farm
