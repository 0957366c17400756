#include "tuning_db/sqlite_reader.h"
#include "tuning_db/sqlite_writer.h"

namespace farm {

Result<std::unique_ptr<RecordStore>> open_store(const std::string& path, OpenMode mode) {
  DatabaseFiles files = files_of(path);
  return mode == OpenMode::ReadOnly ? open_reader(files) : open_writer(files);
}

}  // namespace farm
