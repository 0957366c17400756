// Private to the room `tuning_db`: a connection that reads a file without needing to write anything.
#pragma once
#include <memory>

#include "tuning_db/database_files.h"
#include "tuning_db/sqlite.h"

namespace farm {

class ReadConnection {
 public:
  /// The file is there and may be read; what it holds is not judged. Leaves nothing beside the file when it ends.
  static Result<std::unique_ptr<ReadConnection>> open(const DatabaseFiles& files);
  ~ReadConnection();
  ReadConnection(const ReadConnection&) = delete;

  const Connection& connection() const { return *connection_; }
  /// False when a writer wrote what this connection cannot see: open another one.
  bool is_current() const { return shares_ || stamp_of(files_) == stamp_; }

 private:
  explicit ReadConnection(DatabaseFiles files) : files_(std::move(files)), stamp_(stamp_of(files_)) {}
  Result<std::unique_ptr<Connection>> connect();

  DatabaseFiles files_;
  FileStamp stamp_;  ///< from before the file was opened
  std::unique_ptr<Connection> connection_;
  bool shares_ = false;  ///< takes part in SQLite's protocol between writer and readers
};

}  // namespace farm
