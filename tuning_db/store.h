// Where records live. No SQL and no row numbers cross this door; SQLite is behind it today.
#pragma once
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tuning_db/record.h"

namespace farm {

/// Empty fields match everything. Text fields match exactly, except where said.
struct RecordFilter {
  std::optional<std::string> task;    ///< Task::text()
  std::vector<std::string> tasks;     ///< any of these, when there are some
  std::optional<std::string> op;      ///< "conv2d": any shape of it
  std::optional<std::string> target;  ///< full text, or an ISA level or CPU that is part of it, or a device key
  std::optional<int> threads;
  std::optional<std::string> policy;
  std::optional<Role> role;
  bool only_ok = false;
};

enum class OpenMode { ReadOnly, ReadWrite };

/// ReadOnly never creates a file: NotFound when there is none. ReadWrite creates it and takes the writer's lock: a
/// second writer gets Unavailable with the holder's process id. A file of a newer version is refused by both.
/// One thread at a time. A reader sees what was appended before its call.
class RecordStore {
 public:
  virtual ~RecordStore() = default;

  /// Durable when it returns (or an Error, and then none of the batch is there). Records that are there already are
  /// skipped. Returns how many were new.
  virtual Result<size_t> append(const std::vector<Record>& records) = 0;

  /// Calls `each` in order of insertion; false from it stops. Damaged rows are skipped and counted.
  struct ScanReport {
    size_t read = 0;
    std::vector<std::string> damaged;  ///< one line each: which and why
  };
  virtual Result<ScanReport> scan(const RecordFilter& filter, const std::function<bool(const Record&)>& each) = 0;

  /// The best Ok record of each (task, target, threads). Finals count before trials of the same key, since they were
  /// measured interleaved; the fastest wins. Of finals that tie with the fastest one the simplest wins: the fewest
  /// decisions that differ from the default schedule's, then the shortest text, then the first in the alphabet.
  virtual Result<std::vector<Record>> best(const RecordFilter& filter) = 0;

  /// Seconds of tuning stored and number of Trial records for a key.
  struct Spent {
    size_t trials = 0;
    double seconds = 0;
  };
  virtual Result<Spent> spent(const RecordKey& key) = 0;

  /// What is wrong with the file's structure, one line each; empty when it is whole. Reads all of it.
  virtual Result<std::vector<std::string>> check_structure() { return std::vector<std::string>{}; }
};

Result<std::unique_ptr<RecordStore>> open_store(const std::string& path, OpenMode mode);

/// Finals of one run, measured interleaved, whose intervals overlap: nobody can say which is faster.
bool is_tie(const Record& one, const Record& other);

/// What compile asks: the best record usable on `target` (exact CPU first, then a CPU whose features are a subset).
struct BestMatch {
  Record record;
  bool exact = true;  ///< false: from another CPU with a subset of the features
};
Result<std::optional<BestMatch>> best_for(RecordStore& store, const std::string& task, const Target& target,
                                          int threads);

// JSON lines: one record a line, times null when it failed, numbers that JSON lacks as "inf", "-inf", "nan".
std::string to_json_line(const Record& record);
/// Corrupt, saying what is wrong: no JSON, a field that is missing, unknown or of the wrong type, or content that does
/// not match the line's own `hash` (a line may leave `hash` out).
Result<Record> record_from_json_line(std::string_view line);

/// For documents that people's scripts read: the line's fields without the samples, with `gflops` and `share_of_peak`
/// (null where unknown).
std::string to_json_summary(const Record& record);
/// A JSON string with its quotes.
std::string json_text(std::string_view text);

// Moving records between stores ------------------------------------------------------------------------------------

struct TransferReport {
  size_t read = 0;               ///< good records seen
  size_t added = 0;              ///< of these, new ones
  std::vector<std::string> bad;  ///< one line each: "line 7: it is no JSON", "row 12: ..."
};

/// Good lines are stored, bad ones reported; empty lines are nothing. Idempotent.
Result<TransferReport> import_lines(RecordStore& store, std::istream& lines);
/// Appends everything of `from`. Idempotent.
Result<TransferReport> merge_store(RecordStore& store, RecordStore& from);

}  // namespace farm
