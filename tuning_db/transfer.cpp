#include <istream>

#include "base/text.h"
#include "tuning_db/store.h"

namespace farm {
namespace {

/// Appends in batches: one flush to the disk for many records.
class Batch {
 public:
  Batch(RecordStore& store, TransferReport& report) : store_(store), report_(report) {}

  Status add(Record record) {
    records_.push_back(std::move(record));
    ++report_.read;
    return records_.size() < 1000 ? Status{} : flush();
  }
  Status flush() {
    FARM_TRY(size_t added, store_.append(records_));
    report_.added += added;
    records_.clear();
    return {};
  }

 private:
  RecordStore& store_;
  TransferReport& report_;
  std::vector<Record> records_;
};

}  // namespace

Result<TransferReport> import_lines(RecordStore& store, std::istream& lines) {
  TransferReport report;
  Batch batch(store, report);
  size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (trim(line).empty()) continue;
    auto record = record_from_json_line(line);
    if (record)
      FARM_CHECK(batch.add(*std::move(record)));
    else
      report.bad.push_back("line " + std::to_string(number) + ": " + record.error().message);
  }
  if (lines.bad()) return fail(ErrorCode::Unavailable, "reading stopped after line ", number);
  FARM_CHECK(batch.flush());
  return report;
}

Result<TransferReport> merge_store(RecordStore& store, RecordStore& from) {
  TransferReport report;
  Batch batch(store, report);
  Status stored;
  FARM_TRY(RecordStore::ScanReport scanned, from.scan({}, [&](const Record& record) {
    stored = batch.add(record);
    return stored.has_value();
  }));
  FARM_CHECK(stored);
  FARM_CHECK(batch.flush());
  report.bad = std::move(scanned.damaged);
  return report;
}

}  // namespace farm
