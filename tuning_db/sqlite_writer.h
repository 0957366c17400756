// Private to the room `tuning_db`: the store as its one writer has it.
#pragma once
#include "tuning_db/database_files.h"
#include "tuning_db/store.h"

namespace farm {

Result<std::unique_ptr<RecordStore>> open_writer(const DatabaseFiles& files);

}  // namespace farm
