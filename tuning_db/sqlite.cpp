#include "tuning_db/sqlite.h"

#include <sqlite3.h>

namespace farm {

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

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

void Statement::bind(int at, std::string_view text) {
  sqlite3_bind_text64(statement_.get(), at + 1, text.data() ? text.data() : "", text.size(), SQLITE_TRANSIENT,
                      SQLITE_UTF8);
}
void Statement::bind(int at, int64_t value) { sqlite3_bind_int64(statement_.get(), at + 1, value); }
void Statement::bind(int at, double value) { sqlite3_bind_double(statement_.get(), at + 1, value); }
void Statement::bind(int at, std::span<const std::byte> blob) {
  // A null pointer would bind NULL where an empty blob is meant.
  sqlite3_bind_blob64(statement_.get(), at + 1, blob.empty() ? static_cast<const void*>("") : blob.data(), blob.size(),
                      SQLITE_TRANSIENT);
}
void Statement::bind_null(int at) { sqlite3_bind_null(statement_.get(), at + 1); }

Result<bool> Statement::step() {
  int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  auto error = connection_->last_error();
  sqlite3_reset(statement_.get());
  return error;
}

Status Statement::run() {
  for (;;) {
    FARM_TRY(bool more, step());
    if (!more) break;
  }
  reset();
  return {};
}

void Statement::reset() { sqlite3_reset(statement_.get()); }

bool Statement::is_null(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }
int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }

std::string_view Statement::text(int column) const {
  auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  return {data ? data : "", static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

std::span<const std::byte> Statement::blob(int column) const {
  auto* data = static_cast<const std::byte*>(sqlite3_column_blob(statement_.get(), column));
  return {data, data ? static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column)) : 0};
}

Result<std::unique_ptr<Connection>> Connection::open(std::string path, const std::string& uri, int flags) {
  sqlite3* handle = nullptr;
  int code = sqlite3_open_v2(uri.c_str(), &handle, flags | SQLITE_OPEN_URI | SQLITE_OPEN_EXRESCODE, nullptr);
  std::unique_ptr<Connection> connection(new Connection(std::move(path), handle));
  if (!handle) return fail(ErrorCode::Unavailable, "database ", connection->path(), ": out of memory");
  if (code != SQLITE_OK) return connection->last_error();
  sqlite3_busy_timeout(handle, 5000);
  // A file from elsewhere is data: its schema must not run functions, and nothing may rewrite the schema by hand.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  FARM_CHECK(connection->execute("PRAGMA cell_size_check = ON"));
  return connection;
}

Connection::~Connection() { sqlite3_close_v2(handle_); }

Result<Statement> Connection::prepare(std::string_view sql) const {
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                                &statement, nullptr);
  if (code != SQLITE_OK) return last_error();
  return Statement(this, statement);
}

Status Connection::execute(const char* sql) const {
  if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return last_error();
  return {};
}

Result<int64_t> Connection::number(std::string_view sql) const {
  FARM_TRY(Statement statement, prepare(sql));
  FARM_TRY(bool found, statement.step());
  return found ? statement.integer(0) : 0;
}

Result<std::string> Connection::word(std::string_view sql) const {
  FARM_TRY(Statement statement, prepare(sql));
  FARM_TRY(bool found, statement.step());
  return found ? std::string(statement.text(0)) : std::string();
}

// SQLite's own descriptor: to close another one would drop this process's locks on the file.
static sqlite3_file* file_of(sqlite3* handle) {
  sqlite3_file* file = nullptr;
  sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  return file && file->pMethods ? file : nullptr;
}

int64_t Connection::file_bytes() const {
  sqlite3_file* file = file_of(handle_);
  sqlite3_int64 bytes = 0;
  return file && file->pMethods->xFileSize(file, &bytes) == SQLITE_OK ? bytes : 0;
}

size_t Connection::read_file(uint64_t offset, std::span<std::byte> into) const {
  auto bytes = static_cast<uint64_t>(file_bytes());
  if (offset >= bytes) return 0;
  size_t size = std::min<uint64_t>(into.size(), bytes - offset);
  sqlite3_file* file = file_of(handle_);
  return file->pMethods->xRead(file, into.data(), int(size), int64_t(offset)) == SQLITE_OK ? size : 0;
}

int64_t Connection::changes() const { return sqlite3_changes64(handle_); }
bool Connection::in_transaction() const { return sqlite3_get_autocommit(handle_) == 0; }

std::unexpected<Error> Connection::last_error() const {
  int code = sqlite3_errcode(handle_);
  const char* text = sqlite3_errmsg(handle_);
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
      return fail(ErrorCode::Corrupt, "database ", path_, " is damaged: ", text);
    case SQLITE_NOTADB:
      return fail(ErrorCode::Corrupt, "file ", path_, " is no database of this program");
    case SQLITE_FULL:
      return fail(ErrorCode::Unavailable, "database ", path_,
                  " cannot grow: the disk is full; records stored before are kept; make room and run it again");
    case SQLITE_IOERR:
      if (code == SQLITE_IOERR_READ)  // a place of the disk that is gone: the rest can be read
        return fail(ErrorCode::Corrupt, "database ", path_, " is damaged: the disk cannot read a part of it");
      return fail(ErrorCode::Unavailable, "database ", path_, " cannot be read or written: ", text, " (code ", code,
                  ")");
    default:
      return fail(ErrorCode::Unavailable, "database ", path_, ": ", text, " (code ", code, ")");
  }
}

}  // namespace farm
