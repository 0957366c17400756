// Private to the room `tuning_db`: a record as a row of the table, and what a damaged row looks like.
#pragma once
#include <string>
#include <vector>

#include "tuning_db/record.h"
#include "tuning_db/sqlite.h"
#include "tuning_db/store.h"

namespace farm {

/// "INSERT ... ON CONFLICT(hash) DO NOTHING": parameters as bound by bind_record.
extern const char* const kInsertSql;
/// `record` must be storable.
void bind_record(Statement& insert, const Record& record);

/// "id, hash, ... FROM records": what record_from_row reads, to be put behind SELECT.
extern const char* const kRowColumns;
/// Corrupt when the content (columns `body` and `samples`) does not match the hash.
Result<Record> record_from_content(std::string_view body, std::span<const std::byte> samples,
                                   std::span<const std::byte> hash);
/// Corrupt when the content does not match the row's hash or one of its columns.
Result<Record> record_from_row(const Statement& row);

/// A filter as " WHERE ..." with its parameters bound in order from `first` on.
struct Where {
  std::string sql;
  std::vector<std::string> texts;
  void bind(Statement& statement, int first = 0) const;
};
Where where_from_filter(const RecordFilter& filter);

}  // namespace farm
