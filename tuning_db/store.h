// Where records live. No SQL and no row numbers cross this door; SQLite is behind it today.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tuning_db/record.h"

namespace farm {

/// Empty fields match everything. Text fields match exactly, except where said.
struct RecordFilter {
  std::optional<std::string> task;       ///< Task::text()
  std::optional<std::string> op;         ///< "conv2d": any shape of it
  std::optional<std::string> target;     ///< full text, or an ISA level or CPU that is part of it
  std::optional<int> threads;
  std::optional<std::string> policy;
  std::optional<Role> role;
  bool only_ok = false;
};

enum class OpenMode { ReadOnly, ReadWrite };

/// ReadOnly never creates a file: NotFound when there is none. ReadWrite creates it and takes the writer's lock: a
/// second writer gets Unavailable with the holder's process id. A file of a newer version is refused by both.
class Store {
 public:
  virtual ~Store() = default;

  /// Durable when it returns (or an Error, and then none of the batch is there). Records that are there already are
  /// skipped. Returns how many were new.
  virtual Result<size_t> append(const std::vector<Record>& records) = 0;

  /// Calls `each` in order of insertion; false from it stops. Damaged rows are skipped and counted.
  struct ScanReport {
    size_t read = 0;
    std::vector<std::string> damaged;  ///< one line each: which and why
  };
  virtual Result<ScanReport> scan(const RecordFilter& filter, const std::function<bool(const Record&)>& each) = 0;

  /// The fastest Ok record of each (task, target, threads): finals count before trials of the same key, since they
  /// were measured interleaved; the simplest (shortest text, then lexical) of equals.
  virtual Result<std::vector<Record>> best(const RecordFilter& filter) = 0;

  /// Seconds of tuning stored and number of Trial records for a key.
  struct Spent {
    size_t trials = 0;
    double seconds = 0;
  };
  virtual Result<Spent> spent(const RecordKey& key) = 0;
};

Result<std::unique_ptr<Store>> open_store(const std::string& path, OpenMode mode);

/// What compile asks: the best record usable on `target` (exact CPU first, then a CPU whose features are a subset).
struct BestMatch {
  Record record;
  bool exact = true;  ///< false: from another CPU with a subset of the features
};
Result<std::optional<BestMatch>> best_for(Store& store, const std::string& task, const Target& target, int threads);

// JSON lines: one record a line, the same fields as in the schema.
std::string to_json_line(const Record& record);
Result<Record> record_from_json_line(std::string_view line);

}  // namespace farm
