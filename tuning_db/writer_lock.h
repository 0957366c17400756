// Private to the room `tuning_db`: one writer a database.
#pragma once
#include <string>

#include "base/result.h"

namespace farm {

/// Holds FILE.lock until it is destroyed; the kernel lets go when the process ends in any way. A child made by fork
/// does not hold it. Any thread.
class WriterLock {
 public:
  /// Unavailable, naming the holder's process id, when another writer has it, in this process or another. Waits a
  /// moment before it says so: readers hold the lock for some milliseconds while they tidy up.
  static Result<WriterLock> acquire(const std::string& database);
  /// The same without waiting.
  static Result<WriterLock> try_acquire(const std::string& database);

  WriterLock(WriterLock&& other) noexcept;
  WriterLock& operator=(WriterLock&&) = delete;
  ~WriterLock();

 private:
  WriterLock(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  int fd_;
  std::string path_;
};

}  // namespace farm
