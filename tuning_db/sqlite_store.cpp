#include <sqlite3.h>

#include <filesystem>
#include <optional>

#include "base/log.h"
#include "tuning_db/record_json.h"
#include "tuning_db/rows.h"
#include "tuning_db/scan.h"
#include "tuning_db/sqlite.h"
#include "tuning_db/store.h"
#include "tuning_db/ties.h"
#include "tuning_db/writer_lock.h"
#include "tuning_db_schema.h"

namespace farm {
namespace {

constexpr int64_t kVersion = 1;                 // schema.sql's user_version
constexpr int64_t kApplicationId = 1413891138;  // and its application_id
constexpr int64_t kQuickCheckBytes = 32 << 20;  // a writer checks smaller files at open: at most some 50 ms

class SqliteStore final : public RecordStore {
 public:
  SqliteStore(std::unique_ptr<Connection> connection, std::optional<WriterLock> lock)
      : lock_(std::move(lock)), connection_(std::move(connection)) {}
  ~SqliteStore() override;

  Result<size_t> append(const std::vector<Record>& records) override;
  Result<ScanReport> scan(const RecordFilter& filter, const std::function<bool(const Record&)>& each) override {
    return scan_rows(*connection_, filter, each);
  }
  Result<std::vector<Record>> best(const RecordFilter& filter) override;
  Result<Spent> spent(const RecordKey& key) override;
  Result<std::vector<std::string>> check_structure() override;

 private:
  Result<size_t> insert_all(const std::vector<Record>& records);
  Result<std::optional<Record>> read_row(int64_t id);
  Result<std::string> default_candidate(const RecordKey& key);
  Result<Record> simplest(const std::vector<Record>& ties);

  std::optional<WriterLock> lock_;  // let go after the connection is closed
  std::unique_ptr<Connection> connection_;
};

/// Percent-encodes what a URI would take for something else.
std::string uri_of(const std::string& path, const char* query) {
  std::string uri = "file:";
  for (char c : path) {
    if (c == '%')
      uri += "%25";
    else if (c == '?')
      uri += "%3f";
    else if (c == '#')
      uri += "%23";
    else
      uri += c;
  }
  return uri + query;
}

/// A reader makes an empty log beside the file and may not remove it. Where nobody writes, a writer that has nothing to
/// write does: it closes, and one file is left. Where that fails the log stays, which harms nothing.
void remove_empty_log(const std::string& path) {
  std::error_code error;
  if (std::filesystem::file_size(path + "-wal", error) != 0 || error) return;
  auto lock = WriterLock::try_acquire(path);
  if (!lock) return;
  auto connection = Connection::open(path, uri_of(path, ""), SQLITE_OPEN_READWRITE);
  if (connection) (void)(*connection)->number("SELECT count(*) FROM sqlite_schema");
}

SqliteStore::~SqliteStore() {
  std::string path = connection_->path();
  bool reader = !lock_;
  connection_.reset();
  if (reader) remove_empty_log(path);
}

// Writing ----------------------------------------------------------------------------------------------------------

Result<size_t> SqliteStore::append(const std::vector<Record>& records) {
  if (!lock_) return fail(ErrorCode::InvalidArgument, "database ", connection_->path(), " was opened for reading only");
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

Result<size_t> SqliteStore::insert_all(const std::vector<Record>& records) {
  FARM_TRY(Statement insert, connection_->prepare(kInsertSql));
  size_t added = 0;
  for (const Record& record : records) {
    bind_record(insert, record);
    FARM_CHECK(insert.run());
    added += size_t(connection_->changes());
  }
  return added;
}

// Reading ----------------------------------------------------------------------------------------------------------

Result<std::optional<Record>> SqliteStore::read_row(int64_t id) {
  FARM_TRY(Statement row, connection_->prepare(std::string("SELECT ") + kRowColumns + " WHERE id = ?"));
  row.bind(0, id);
  auto found = row.step();
  Result<Record> record = found ? record_from_row(row) : std::unexpected(found.error());
  if (record) return std::optional(*std::move(record));
  if (record.error().code != ErrorCode::Corrupt) return std::unexpected(record.error());
  log_event(LogLevel::Warning, "damaged_record_skipped",
            {{"database", connection_->path()}, {"record", std::to_string(id)}, {"why", record.error().message}});
  return std::optional<Record>();
}

Result<std::string> SqliteStore::default_candidate(const RecordKey& key) {
  FARM_TRY(Statement last, connection_->prepare("SELECT candidate FROM records WHERE task = ? AND target = ? AND "
                                                "threads = ? AND role = 'default' ORDER BY id DESC LIMIT 1"));
  last.bind(0, key.task);
  last.bind(1, key.target);
  last.bind(2, int64_t{key.threads});
  FARM_TRY(bool found, last.step());
  return found ? std::string(last.text(0)) : "";
}

Result<Record> SqliteStore::simplest(const std::vector<Record>& ties) {
  if (ties.size() == 1) return ties.front();
  FARM_TRY(std::string fallback, default_candidate(ties.front().key));
  return simplest_of(ties, fallback);
}

/// Rows of a key come fastest first, finals before others: the first one that can be read, then those that tie with it.
Result<std::vector<Record>> SqliteStore::best(const RecordFilter& filter) {
  RecordFilter good = filter;
  good.only_ok = true;
  Where where = where_from_filter(good);
  FARM_TRY(Statement rows,
           connection_->prepare(
               "SELECT id, task, target, threads, role FROM records" + where.sql +
               " ORDER BY task, target, threads, role = 'final' DESC, latency_ns, length(candidate), candidate, id"));
  where.bind(rows);
  std::vector<Record> winners, ties;
  for (;;) {
    FARM_TRY(bool more, rows.step());
    bool same_key = more && !ties.empty() && ties.front().key.task == rows.text(1) &&
                    ties.front().key.target == rows.text(2) && ties.front().key.threads == rows.integer(3);
    if (!same_key && !ties.empty()) {
      FARM_TRY(winners.emplace_back(), simplest(ties));
      ties.clear();
    }
    if (!more) return winners;
    bool may_tie = ties.empty() || (ties.front().role == Role::Final && rows.text(4) == "final");
    if (!may_tie) continue;
    FARM_TRY(std::optional<Record> record, read_row(rows.integer(0)));
    if (record && (ties.empty() || is_tie(ties.front(), *record))) ties.push_back(*std::move(record));
  }
}

Result<RecordStore::Spent> SqliteStore::spent(const RecordKey& key) {
  FARM_TRY(Statement sums,
           connection_->prepare("SELECT count(*) FILTER (WHERE role = 'trial'), total(spent_ns) FROM records"
                                " WHERE task = ? AND target = ? AND threads = ? AND policy = ?"));
  sums.bind(0, key.task);
  sums.bind(1, key.target);
  sums.bind(2, int64_t{key.threads});
  sums.bind(3, key.policy);
  FARM_CHECK(sums.step());
  return Spent{size_t(sums.integer(0)), sums.real(1) * 1e-9};
}

Result<std::vector<std::string>> SqliteStore::check_structure() {
  FARM_TRY(Statement lines, connection_->prepare("PRAGMA integrity_check(20)"));
  std::vector<std::string> problems;
  for (;;) {
    auto more = lines.step();
    if (!more && more.error().code != ErrorCode::Corrupt) return std::unexpected(more.error());
    if (!more) problems.push_back(more.error().message);
    if (!more || !*more) return problems;
    if (lines.text(0) != "ok") problems.emplace_back(lines.text(0));
  }
}

// Opening ----------------------------------------------------------------------------------------------------------

Status check_version(const Connection& connection) {
  FARM_TRY(int64_t application, connection.number("PRAGMA application_id"));
  FARM_TRY(int64_t version, connection.number("PRAGMA user_version"));
  if (application != kApplicationId)
    return fail(ErrorCode::Corrupt, "file ", connection.path(), " is no database of this program");
  if (version > kVersion)
    return fail(ErrorCode::Unavailable, "database ", connection.path(), " is of version ", version,
                ", this program reads up to ", kVersion, "; use a newer program or choose another with --db");
  if (version < 1)
    return fail(ErrorCode::Corrupt, "database ", connection.path(), " is of version ", version, ", which never was");
  return {};
}

/// No tables, no version: nobody's file yet.
Result<bool> is_blank(const Connection& connection) {
  FARM_TRY(int64_t objects, connection.number("SELECT count(*) FROM sqlite_schema"));
  FARM_TRY(int64_t application, connection.number("PRAGMA application_id"));
  return objects == 0 && application == 0;
}

Status create_schema(const Connection& connection) {
  FARM_CHECK(connection.execute("BEGIN IMMEDIATE"));
  auto created = connection.execute(kSchema);
  if (created) created = connection.execute("COMMIT");
  if (!created && connection.in_transaction()) (void)connection.execute("ROLLBACK");
  return created;
}

Status quick_check(const Connection& connection) {
  FARM_TRY(int64_t bytes,
           connection.number("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"));
  if (bytes > kQuickCheckBytes) return {};
  FARM_TRY(std::string verdict, connection.word("PRAGMA quick_check(1)"));
  if (verdict == "ok") return {};
  for (char& c : verdict) c = c == '\n' ? ' ' : c;
  return fail(ErrorCode::Corrupt, "database ", connection.path(), " is damaged (", verdict,
              "); save what can be read with: tuning_db export --db ", connection.path());
}

Result<std::unique_ptr<RecordStore>> open_writer(const std::string& path) {
  auto folder = std::filesystem::path(path).parent_path();
  std::error_code ignored;
  if (!folder.empty() && !std::filesystem::is_directory(folder, ignored))
    return fail(ErrorCode::NotFound, "no folder ", folder.string(), " for the database ", path);
  FARM_TRY(WriterLock lock, WriterLock::acquire(path));
  FARM_TRY(auto connection, Connection::open(path, uri_of(path, ""), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  // The log makes readers independent of the writer; FULL makes a commit survive a loss of power.
  FARM_TRY(bool blank, is_blank(*connection));
  if (!blank) FARM_CHECK(check_version(*connection));
  FARM_CHECK(connection->execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL"));
  FARM_CHECK(blank ? create_schema(*connection) : quick_check(*connection));
  return std::make_unique<SqliteStore>(std::move(connection), std::move(lock));
}

/// A file on a read-only medium has nobody beside us: only then may it be read without its log.
Result<std::unique_ptr<Connection>> open_for_reading(const std::string& path) {
  FARM_TRY(auto connection, Connection::open(path, uri_of(path, ""), SQLITE_OPEN_READONLY));
  if (connection->number("PRAGMA schema_version").has_value() ||
      (sqlite3_errcode(connection->handle()) & 0xff) != SQLITE_CANTOPEN)
    return connection;
  std::error_code ignored;
  if (std::filesystem::exists(path + "-wal", ignored)) return connection;
  return Connection::open(path, uri_of(path, "?immutable=1"), SQLITE_OPEN_READONLY);
}

/// SQLite refuses a file that lost its end at the first look; told so, it reads what is there. For readers only.
void tolerate_damage(const Connection& connection) {
  sqlite3_db_config(connection.handle(), SQLITE_DBCONFIG_DEFENSIVE, 0, nullptr);
  sqlite3_db_config(connection.handle(), SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, nullptr);
}

Result<std::unique_ptr<RecordStore>> open_reader(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    return fail(ErrorCode::NotFound, "no database ", path, "; tune writes one, --db FILE names another");
  FARM_TRY(auto opened, open_for_reading(path));
  const Connection& connection = *opened;
  auto store = std::make_unique<SqliteStore>(std::move(opened), std::nullopt);  // tidies up after a refusal too
  // Exactly one connection may write back the log: the writer's (SQLite before 3.51.3 can lose data otherwise).
  sqlite3_db_config(connection.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  auto judged = is_blank(connection);
  if (!judged && judged.error().code == ErrorCode::Corrupt) {
    tolerate_damage(connection);
    judged = is_blank(connection);
  }
  FARM_TRY(bool blank, judged);
  if (blank) return fail(ErrorCode::NotFound, "database ", path, " is empty; tune fills one, --db FILE names another");
  FARM_CHECK(check_version(connection));
  return store;
}

}  // namespace

Result<std::unique_ptr<RecordStore>> open_store(const std::string& path, OpenMode mode) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    return fail(ErrorCode::InvalidArgument, path, " is a folder; a database is a file");
  return mode == OpenMode::ReadOnly ? open_reader(path) : open_writer(path);
}

}  // namespace farm
