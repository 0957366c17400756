// Private to the room `tuning_db`: SQLite's C interface with owners, Results and nothing else.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace farm {

class Connection;

/// The path as a URI for SQLite, `query` ("?immutable=1") behind it.
std::string uri_of(const std::string& path, const char* query);

/// A prepared statement; parameters and columns count from 0. Texts and blobs are copied when bound.
class Statement {
 public:
  void bind(int at, std::string_view text);
  void bind(int at, int64_t value);
  void bind(int at, double value);
  void bind(int at, std::span<const std::byte> blob);
  void bind_null(int at);

  /// True: a row is there. False: the end.
  Result<bool> step();
  /// Runs to the end and makes ready for the next round.
  Status run();
  void reset();

  bool is_null(int column) const;
  int64_t integer(int column) const;
  double real(int column) const;
  std::string_view text(int column) const;            ///< until the next step
  std::span<const std::byte> blob(int column) const;  ///< until the next step

 private:
  friend class Connection;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(const Connection* connection, sqlite3_stmt* statement) : connection_(connection), statement_(statement) {}
  const Connection* connection_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Connection {
 public:
  /// `path` is for messages, `uri` for SQLite ("file:..."); `flags` are SQLITE_OPEN_*.
  static Result<std::unique_ptr<Connection>> open(std::string path, const std::string& uri, int flags);
  ~Connection();

  Result<Statement> prepare(std::string_view sql) const;
  /// Statements without parameters, one after another.
  Status execute(const char* sql) const;
  /// The first column of the first row of a query or pragma.
  Result<int64_t> number(std::string_view sql) const;
  Result<std::string> word(std::string_view sql) const;

  int64_t file_bytes() const;
  /// Bytes of the database file itself, past SQLite's cache and log; how many were there.
  size_t read_file(uint64_t offset, std::span<std::byte> into) const;

  int64_t changes() const;  ///< rows of the last statement
  bool in_transaction() const;
  sqlite3* handle() const { return handle_; }
  const std::string& path() const { return path_; }

  /// The connection's last error: Corrupt for damaged files, Unavailable for a full disk, locks and the like.
  std::unexpected<Error> last_error() const;

 private:
  Connection(std::string path, sqlite3* handle) : path_(std::move(path)), handle_(handle) {}
  std::string path_;
  sqlite3* handle_;
};

}  // namespace farm
