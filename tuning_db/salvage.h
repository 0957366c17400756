// Private to the room `tuning_db`: everything that can be read of a damaged file.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "tuning_db/sqlite.h"

namespace farm {

struct Salvage {
  std::unique_ptr<Connection> records;  ///< a database in memory, with tables and indexes as in a file
  std::vector<std::string> lost;        ///< one line each: which records, and why
};

/// Walks the table from both ends, then looks into every page. Corrupt when no record can be read.
Result<Salvage> salvage(const Connection& damaged);

}  // namespace farm
