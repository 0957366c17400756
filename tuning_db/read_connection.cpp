#include "tuning_db/read_connection.h"

#include <sqlite3.h>

#include <filesystem>

#include "tuning_db/writer_lock.h"

namespace farm {
namespace {

// Three ways to read. A database in WAL mode is a file, the writer's log and the log's index, and SQLite's protocol
// between a writer and its readers lives in the index, which a reader must be able to write, or at least to find.
//
// 1. Shared, SQLite's own way: sees what a writer appends at once. Where file and folder may be written, SQLite makes
//    log and index when they are missing; where they may not (a file on a read-only medium, or somebody else's), it
//    reads those that a writer at work, or one that died, has made.
// 2. Without a log that holds anything the file alone is the whole truth, and `immutable` reads it without looking for
//    a log or an index.
// 3. With such a log and no index (both were copied to a read-only folder) SQLite keeps the index in its own memory,
//    which it does only for who has the file for himself: hence no locks and the exclusive mode.
//
// Ways 2 and 3 take no part in the protocol, so a writer that begins afterwards is not seen, and may change pages that
// are being read. Whoever asks compares the files' stamps before (then another connection is opened, which finds log and
// index) and after (then the answer is thrown away): a writer makes a log before it writes anything else.
constexpr const char* kShared = "";
constexpr const char* kFileAlone = "?immutable=1";
constexpr const char* kFileAndLog = "?vfs=unix-none";

Result<std::unique_ptr<Connection>> connect_by(const DatabaseFiles& files, const char* way) {
  FARM_TRY(auto connection, Connection::open(files.path, uri_of(files.real, way), SQLITE_OPEN_READONLY));
  // Exactly one connection may write back the log: the writer's (SQLite before 3.51.3 can lose data otherwise).
  sqlite3_db_config(connection->handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  if (way == kFileAndLog) FARM_CHECK(connection->execute("PRAGMA locking_mode = EXCLUSIVE"));
  return connection;
}

/// Damage is no matter of the way.
bool can_read(const Connection& connection) {
  auto version = connection.number("PRAGMA schema_version");
  return version.has_value() || version.error().code == ErrorCode::Corrupt;
}

/// A reader makes an empty log beside the file and may not remove it. Where nobody writes, a writer that has nothing to
/// write does: it closes, and one file is left. Where that fails the log stays, which harms nothing.
void remove_empty_log(const DatabaseFiles& files) {
  std::error_code error;
  if (std::filesystem::file_size(files.log(), error) != 0 || error) return;
  auto lock = WriterLock::try_acquire(files.path);
  if (!lock) return;
  auto connection = Connection::open(files.path, uri_of(files.real, kShared), SQLITE_OPEN_READWRITE);
  if (connection) (void)(*connection)->number("SELECT count(*) FROM sqlite_schema");
}

}  // namespace

Result<std::unique_ptr<ReadConnection>> ReadConnection::open(const DatabaseFiles& files) {
  std::unique_ptr<ReadConnection> reader(new ReadConnection(files));
  FARM_TRY(reader->connection_, reader->connect());
  return reader;
}

ReadConnection::~ReadConnection() {
  connection_.reset();
  if (shares_ && may_write(files_)) remove_empty_log(files_);
}

Result<std::unique_ptr<Connection>> ReadConnection::connect() {
  if (may_write(files_) || has_log_and_index(files_)) {
    shares_ = true;
    FARM_TRY(auto connection, connect_by(files_, kShared));
    if (can_read(*connection)) return connection;
    // The disk may be full, so that SQLite cannot make an index, or the index be somebody's secret.
    shares_ = false;
  }
  return connect_by(files_, has_log_content(files_) ? kFileAndLog : kFileAlone);
}

}  // namespace farm
