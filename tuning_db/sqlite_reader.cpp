#include "tuning_db/sqlite_reader.h"

#include <sqlite3.h>

#include <algorithm>
#include <optional>

#include "base/log.h"
#include "base/text.h"
#include "tuning_db/answers.h"
#include "tuning_db/damage.h"
#include "tuning_db/identity.h"
#include "tuning_db/read_connection.h"
#include "tuning_db/salvage.h"
#include "tuning_db/scan.h"

namespace farm {
namespace {

template <class Answer>
bool is_corrupt(const Result<Answer>& answer) {
  return !answer && answer.error().code == ErrorCode::Corrupt;
}

/// Answers from the file. Once damage is met, from what can be read of it.
class SqliteReader final : public RecordStore {
 public:
  explicit SqliteReader(DatabaseFiles files) : files_(std::move(files)) {}
  Status open();

  Result<size_t> append(const std::vector<Record>&) override {
    return fail(ErrorCode::InvalidArgument, "database ", files_.path, " was opened for reading only");
  }
  Result<ScanReport> scan(const RecordFilter& filter, const std::function<bool(const Record&)>& each) override;
  Result<std::vector<Record>> best(const RecordFilter& filter) override {
    return ask<std::vector<Record>>([&](const Connection& records) { return best_rows(records, filter); });
  }
  Result<Spent> spent(const RecordKey& key) override {
    return ask<Spent>([&](const Connection& records) { return spent_on(records, key); });
  }
  Result<std::vector<std::string>> check_structure() override;

 private:
  Status judge() const;
  Status refresh();
  Status check_unchanged() const;
  Status save_what_can_be_read();
  template <class Answer>
  Result<Answer> ask(const std::function<Result<Answer>(const Connection&)>& question);

  DatabaseFiles files_;
  std::unique_ptr<ReadConnection> reader_;
  std::optional<Salvage> salvage_;
  bool suspect_ = false;  ///< a check has found damage
  bool warned_ = false;
};

// Opening ----------------------------------------------------------------------------------------------------------

Status SqliteReader::judge() const {
  FARM_TRY(bool blank, is_blank(reader_->connection()));
  if (blank)
    return fail(ErrorCode::NotFound, "database ", files_.path, " is empty; tune fills one, --db FILE names another");
  return check_version(reader_->connection());
}

/// SQLite refuses a file that lost its end at the first look; told so, it reads what is there.
void tolerate_damage(const Connection& connection) {
  sqlite3_db_config(connection.handle(), SQLITE_DBCONFIG_DEFENSIVE, 0, nullptr);
  sqlite3_db_config(connection.handle(), SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, nullptr);
}

Status SqliteReader::open() {
  salvage_.reset();
  suspect_ = false;
  FARM_CHECK(check_readable(files_));
  FARM_TRY(reader_, ReadConnection::open(files_));
  auto judged = judge();
  if (!is_corrupt(judged)) return judged;
  tolerate_damage(reader_->connection());
  judged = judge();
  if (!is_corrupt(judged)) return judged;
  // Another program's file, or ours with its first page damaged: only the records can tell.
  bool foreign = (sqlite3_errcode(reader_->connection().handle()) & 0xff) != SQLITE_CORRUPT;
  auto saved = save_what_can_be_read();
  return !saved && foreign ? judged : saved;
}

/// A writer that began after a reader that takes no locks is not seen by it.
Status SqliteReader::refresh() { return reader_->is_current() ? Status{} : open(); }

Status SqliteReader::check_unchanged() const {
  if (reader_->is_current()) return {};
  return fail(ErrorCode::Unavailable, "database ", files_.path, " was written while it was read; run it again");
}

// Answering --------------------------------------------------------------------------------------------------------

Status SqliteReader::save_what_can_be_read() {
  if (salvage_) return {};
  FARM_TRY(salvage_, salvage(reader_->connection()));
  return {};
}

/// Whoever asks this way gets no list of damage, so it is told aloud, once.
template <class Answer>
Result<Answer> SqliteReader::ask(const std::function<Result<Answer>(const Connection&)>& question) {
  FARM_CHECK(refresh());
  Result<Answer> answer = salvage_ ? question(*salvage_->records) : question(reader_->connection());
  if (is_corrupt(answer) && !salvage_) {
    FARM_CHECK(save_what_can_be_read());
    answer = question(*salvage_->records);
  }
  if (salvage_ && !std::exchange(warned_, true))
    log_event(LogLevel::Warning, "damaged_database",
              {{"database", files_.path}, {"lost", salvage_->lost.empty() ? "no record" : join(salvage_->lost, "; ")}});
  FARM_CHECK(check_unchanged());
  return answer;
}

Result<RecordStore::ScanReport> SqliteReader::scan(const RecordFilter& filter,
                                                   const std::function<bool(const Record&)>& each) {
  FARM_CHECK(refresh());
  ScanReport report;
  std::vector<Hash> given;
  auto give = [&](const Record& record, const RowName& row) {
    given.push_back(row.hash);
    return each(record);
  };
  bool torn = salvage_ || suspect_;
  if (!torn) {
    FARM_TRY(Passage passage, read_rows(reader_->connection(), filter, Order::OldestFirst, give));
    report.damaged = lines_of(passage);
    torn = passage.torn;
  }
  if (torn) {
    FARM_CHECK(save_what_can_be_read());
    std::vector<Hash> before = given;
    std::ranges::sort(before);
    FARM_CHECK(read_rows(*salvage_->records, filter, Order::OldestFirst, [&](const Record& record, const RowName& row) {
      return std::ranges::binary_search(before, row.hash) || give(record, row);
    }));
    report.damaged = salvage_->lost;
  }
  report.read = given.size();
  FARM_CHECK(check_unchanged());
  return report;
}

Result<std::vector<std::string>> SqliteReader::check_structure() {
  FARM_CHECK(refresh());
  auto problems = structure_problems(reader_->connection(), Check::Whole);
  FARM_CHECK(check_unchanged());
  suspect_ = problems && !problems->empty();
  return problems;
}

}  // namespace

Result<std::unique_ptr<RecordStore>> open_reader(const DatabaseFiles& files) {
  auto store = std::make_unique<SqliteReader>(files);
  FARM_CHECK(store->open());
  return store;
}

}  // namespace farm
