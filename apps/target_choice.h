// Which target a person means by a name, given the records at hand.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tuning_db/tuning_db.h"

namespace farm {

/// Things that a person should know about a decision; one line each.
using Notes = std::vector<std::string>;

/// Where records come from; `store` may be null: there is no database.
struct RecordSource {
  RecordStore* store = nullptr;
  std::string path;
};

struct TargetChoice {
  Target target;
  int cores = 1;
  bool cores_known = true;  ///< false: a name alone does not say how many cores there are
};
/// "local", an ISA level, a CPU, both ("x86-64-v3/znver3"), or the key of a device that has records. A device that
/// records describe beats a typical one of that name. InvalidArgument with the nearest names.
Result<TargetChoice> choose_target(const std::string& name, const RecordSource& records);

/// A record says what its device is, unless it came without (a line written by hand).
bool is_described(const Record& record);

}  // namespace farm
