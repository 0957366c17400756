// Private to the room `tuning_db`: what kind of file it is, and which version.
#pragma once
#include "tuning_db/sqlite.h"

namespace farm {

/// No tables, no version: nobody's file yet.
Result<bool> is_blank(const Connection& connection);
/// Corrupt for another program's file and for what never was a version, Unavailable for a newer one.
Status check_version(const Connection& connection);
/// Tables and version, in one transaction.
Status create_schema(const Connection& connection);

}  // namespace farm
