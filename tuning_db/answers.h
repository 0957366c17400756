// Private to the room `tuning_db`: what is asked of the indexes.
#pragma once
#include <vector>

#include "tuning_db/sqlite.h"
#include "tuning_db/store.h"

namespace farm {

/// RecordStore::best. Corrupt when table or index is damaged where the answer lies, or when they disagree.
Result<std::vector<Record>> best_rows(const Connection& connection, const RecordFilter& filter);
/// RecordStore::spent.
Result<RecordStore::Spent> spent_on(const Connection& connection, const RecordKey& key);

}  // namespace farm
