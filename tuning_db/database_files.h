// Private to the room `tuning_db`: a database as the file system sees it, before SQLite is asked.
#pragma once
#include <cstdint>
#include <string>

#include "base/result.h"

namespace farm {

/// One database is up to three files beside each other: itself, the writer's log and the log's index.
struct DatabaseFiles {
  std::string path;  ///< as it was given: for messages
  std::string real;  ///< links resolved, absolute: SQLite puts log and index beside the real file

  std::string log() const { return real + "-wal"; }
  std::string index() const { return real + "-shm"; }
};
DatabaseFiles files_of(const std::string& path);

/// NotFound when it is not there, Unavailable when it is no file or may not be read. Asks without opening: closing any
/// descriptor of a file drops this process's locks on it, SQLite's too.
Status check_readable(const DatabaseFiles& files);
/// The same for a writer, which may make the file and needs others beside it.
Status check_writable(const DatabaseFiles& files);

/// The file and its folder take new content from this process.
bool may_write(const DatabaseFiles& files);
bool has_log_content(const DatabaseFiles& files);
/// Both log and index are there: a writer is at work, or one died.
bool has_log_and_index(const DatabaseFiles& files);

/// Changes whenever a writer has written.
struct FileStamp {
  uint64_t inode = 0;
  int64_t bytes = 0, written_ns = 0, log_bytes = 0, log_written_ns = 0;
  bool operator==(const FileStamp&) const = default;
};
FileStamp stamp_of(const DatabaseFiles& files);

}  // namespace farm
