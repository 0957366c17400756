// Private to the room `tuning_db`: rows out of a file's pages without the tree that leads to them.
#pragma once
#include <functional>

#include "tuning_db/record.h"
#include "tuning_db/sqlite.h"

namespace farm {

/// Takes every page of the file for a leaf of the table and gives what turns out to be a record: its content has the
/// hash that is stored beside it. The file alone, without the writer's log. Format: sqlite.org/fileformat2.html
void carve_records(const Connection& connection, const std::function<void(int64_t id, Record record)>& each);

}  // namespace farm
