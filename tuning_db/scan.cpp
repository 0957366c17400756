#include "tuning_db/scan.h"

#include <limits>

namespace farm {
namespace {

constexpr int64_t kLastId = std::numeric_limits<int64_t>::max();

class Scan {
 public:
  Scan(const Connection& connection, const RecordFilter& filter)
      : connection_(connection), where_(where_from_filter(filter)) {}

  Result<RecordStore::ScanReport> run(const std::function<bool(const Record&)>& each) {
    FARM_TRY(int64_t highest, highest_id());
    for (int64_t next = std::numeric_limits<int64_t>::min();;) {
      FARM_TRY(Passage passage, read_from(next, each));
      if (!passage.damage) return std::move(report_);
      int64_t stuck = passage.last == kLastId ? kLastId : passage.last + 1;
      int64_t resume = first_readable(stuck, highest);
      report_.damaged.push_back(lost_rows(stuck, resume, highest) + *passage.damage);
      if (resume > highest) return std::move(report_);
      next = resume;
    }
  }

 private:
  struct Passage {
    int64_t last = 0;                   ///< highest row that was stepped on
    std::optional<std::string> damage;  ///< why it ended before the end
  };

  /// Where the table's own order is damaged the highest row may be unreadable: then rows are looked for in vain, once.
  Result<int64_t> highest_id() {
    auto highest = connection_.number("SELECT max(id) FROM records");
    if (!highest && highest.error().code == ErrorCode::Corrupt) return int64_t{1} << 40;
    return highest;
  }

  Result<Passage> read_from(int64_t first, const std::function<bool(const Record&)>& each) {
    // NOT INDEXED: a damaged index must not hide rows, and insertion order needs the table anyway.
    std::string sql = std::string("SELECT ") + kRowColumns + " NOT INDEXED" + where_.sql +
                      (where_.sql.empty() ? " WHERE " : " AND ") + "id >= ? ORDER BY id";
    FARM_TRY(Statement rows, connection_.prepare(sql));
    where_.bind(rows);
    rows.bind(int(where_.texts.size()), first);
    Passage passage{std::max<int64_t>(first, 1) - 1, std::nullopt};
    for (;;) {
      auto more = rows.step();
      if (!more && more.error().code != ErrorCode::Corrupt) return std::unexpected(more.error());
      if (!more) passage.damage = more.error().message;
      if (!more || !*more) return passage;
      passage.last = rows.integer(0);
      if (!take(rows, each)) return Passage{passage.last, std::nullopt};
    }
  }

  /// False when the caller wants no more.
  bool take(const Statement& row, const std::function<bool(const Record&)>& each) {
    auto record = record_from_row(row);
    if (record) {
      ++report_.read;
      return each(*record);
    }
    report_.damaged.push_back("record " + std::to_string(row.integer(0)) + ": " + record.error().message);
    return true;
  }

  bool readable(int64_t from) {
    auto rows = connection_.prepare("SELECT id, body FROM records WHERE id >= ? ORDER BY id LIMIT 1");
    if (!rows) return false;
    rows->bind(0, from);
    auto found = rows->step();
    return found.has_value();
  }

  /// Leaps ahead until a row can be read, then halves the way back: a damaged page hides a run of neighbours.
  int64_t first_readable(int64_t stuck, int64_t highest) {
    int64_t bad = stuck, leap = 1;
    while (bad + leap <= highest && !readable(bad + leap)) {
      bad += leap;
      leap *= 2;
    }
    int64_t good = std::min(bad + leap, highest + 1);
    while (good - bad > 1) {
      int64_t middle = bad + (good - bad) / 2;
      (readable(middle) ? good : bad) = middle;
    }
    return good;
  }

  static std::string lost_rows(int64_t first, int64_t resume, int64_t highest) {
    if (resume > highest) return "records from " + std::to_string(first) + " on: ";
    if (resume == first + 1) return "record " + std::to_string(first) + ": ";
    return "records " + std::to_string(first) + " to " + std::to_string(resume - 1) + ": ";
  }

  const Connection& connection_;
  Where where_;
  RecordStore::ScanReport report_;
};

}  // namespace

Result<RecordStore::ScanReport> scan_rows(const Connection& connection, const RecordFilter& filter,
                                    const std::function<bool(const Record&)>& each) {
  return Scan(connection, filter).run(each);
}

}  // namespace farm
