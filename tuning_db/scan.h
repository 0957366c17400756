// Private to the room `tuning_db`: reading rows one after another, as far as the file's structure carries.
#pragma once
#include <functional>

#include "tuning_db/rows.h"

namespace farm {

enum class Order { OldestFirst, NewestFirst };

struct RowName {
  int64_t id = 0;
  Hash hash;
};

struct Passage {
  std::vector<std::pair<int64_t, std::string>> damaged;  ///< rows with damaged content, and why
  bool torn = false;                                     ///< a damaged page ended it early
};

/// "record 3: its content does not match its hash"
std::vector<std::string> lines_of(const Passage& passage);

/// Rows that match, until the end, until `each` says false, or until a page is damaged. A row whose content is damaged
/// is skipped and reported.
Result<Passage> read_rows(const Connection& connection, const RecordFilter& filter, Order order,
                          const std::function<bool(const Record&, const RowName&)>& each);

}  // namespace farm
