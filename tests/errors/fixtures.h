// Files and states of the world that a wrong command can run into.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/child_program.h"
#include "tests/programs.h"
#include "tuning_db/tuning_db.h"

namespace farm {

/// A loopback port that nobody listens on; the same one for the whole process.
uint16_t closed_port();

/// Makes what a case names in a folder; what is held or runs ends with this object.
///   tuning.db    a database with one record, of the device rack-7 (a haswell with four cores)
///   newer.db     a database of a version to come
///   held.db      a database that this process writes to
///   garbage.db   no database
///   tasks.txt    a file of tasks whose second line is broken
///   tracker      no file: a tracker without devices, at tracker_port()
class Fixtures {
 public:
  explicit Fixtures(const ProgramFolder& folder) : folder_(folder) {}
  void make(const std::string& name);
  /// Of the tracker; 0 without one.
  uint16_t tracker_port() const { return tracker_ ? tracker_->port() : 0; }

 private:
  const ProgramFolder& folder_;
  std::vector<std::unique_ptr<RecordStore>> held_;
  std::optional<ChildProgram> tracker_;
};

}  // namespace farm
