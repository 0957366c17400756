#include "tuning_db/salvage.h"

#include <sqlite3.h>

#include <algorithm>
#include <map>

#include "tuning_db/carve.h"
#include "tuning_db/identity.h"
#include "tuning_db/rows.h"
#include "tuning_db/scan.h"

namespace farm {
namespace {

class Finds {
 public:
  explicit Finds(const Connection& damaged) : damaged_(damaged), most_(damaged.file_bytes() / kLeastRowBytes) {}

  void collect() {
    walk(Order::OldestFirst);
    walk(Order::NewestFirst);
    carve_records(damaged_, [this](int64_t id, Record record) { add(id, std::move(record)); });
    ask_index();
  }

  const std::map<int64_t, Record>& records() const { return records_; }

  std::vector<std::string> lost() const {
    std::vector<std::string> lines;
    int64_t next = 1;
    for (auto at = records_.begin(); at != records_.end() && at->first <= most_; ++at) {
      add_lost(lines, next, at->first - 1);
      next = at->first + 1;
    }
    add_lost(lines, next, highest_);
    if (!end_known_)
      lines.push_back("records after " + std::to_string(std::max(next - 1, highest_)) +
                      ", if there were any: their pages are damaged");
    return lines;
  }

 private:
  static constexpr int64_t kLeastRowBytes = 64;  // of a row, its entries in three indexes included

  /// As far as it goes: a schema that is damaged has no table at all.
  void walk(Order order) {
    bool first = true;
    auto passage = read_rows(damaged_, {}, order, [&](const Record& record, const RowName& row) {
      if (first && order == Order::NewestFirst) know_end(row.id);
      first = false;
      add(row.id, record);
      return true;
    });
    if (!passage) return;
    for (auto& [id, why] : passage->damaged) bad_.try_emplace(id, why);
    if (!passage->torn && order == Order::OldestFirst) end_known_ = true;
  }

  /// The number is no part of what the hash protects: one that cannot be is left out of the count.
  void add(int64_t id, Record record) {
    bool possible = id >= 1 && id <= most_;
    records_.try_emplace(possible ? id : most_ + 1 + static_cast<int64_t>(records_.size()), std::move(record));
  }

  void know_end(int64_t id) {
    if (id > most_) return;
    highest_ = std::max(highest_, id);
    end_known_ = true;
  }

  /// An index knows the numbers of rows that the table has lost.
  void ask_index() {
    auto highest = damaged_.number("SELECT max(id + 0) FROM records INDEXED BY records_by_key");
    if (highest) know_end(*highest);
  }

  void add_lost(std::vector<std::string>& lines, int64_t first, int64_t last) const {
    for (; first <= last; ++first) {
      auto bad = bad_.lower_bound(first);
      if (bad != bad_.end() && bad->first == first) {
        lines.push_back("record " + std::to_string(first) + ": " + bad->second);
        continue;
      }
      int64_t end = bad == bad_.end() ? last : std::min(last, bad->first - 1);
      lines.push_back(first == end ? "record " + std::to_string(first) + ": its page is damaged"
                                   : "records " + std::to_string(first) + " to " + std::to_string(end) +
                                         ": their pages are damaged");
      first = end;
    }
  }

  const Connection& damaged_;
  const int64_t most_;  ///< rows that a file of this size can hold
  std::map<int64_t, Record> records_;
  std::map<int64_t, std::string> bad_;
  int64_t highest_ = 0;     ///< row that is known to have been there
  bool end_known_ = false;  ///< nothing was behind it
};

Status insert_all(const Connection& connection, const std::map<int64_t, Record>& records) {
  FARM_CHECK(connection.execute("BEGIN"));
  FARM_TRY(Statement insert, connection.prepare(kInsertSql));
  for (const auto& [id, record] : records) {
    bind_record(insert, record);
    FARM_CHECK(insert.run());
  }
  return connection.execute("COMMIT");
}

}  // namespace

Result<Salvage> salvage(const Connection& damaged) {
  Finds finds(damaged);
  finds.collect();
  if (finds.records().empty())
    return fail(ErrorCode::Corrupt, "database ", damaged.path(), " is damaged: none of its records can be read");
  Salvage saved{nullptr, finds.lost()};
  FARM_TRY(saved.records,
           Connection::open(damaged.path(), "file::memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  FARM_CHECK(create_schema(*saved.records));
  FARM_CHECK(insert_all(*saved.records, finds.records()));
  return saved;
}

}  // namespace farm
