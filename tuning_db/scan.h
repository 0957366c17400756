// Private to the room `tuning_db`: reading all rows of a file of which parts may be damaged.
#pragma once
#include <functional>

#include "tuning_db/rows.h"

namespace farm {

/// Rows that match, in order of insertion. A row whose content is damaged is skipped; where pages of the file are
/// damaged so that SQLite cannot step on, the next readable row is looked for. Both are reported.
Result<RecordStore::ScanReport> scan_rows(const Connection& connection, const RecordFilter& filter,
                                    const std::function<bool(const Record&)>& each);

}  // namespace farm
