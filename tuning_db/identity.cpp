#include "tuning_db/identity.h"

#include "tuning_db_schema.h"

namespace farm {

static constexpr int64_t kVersion = 1;                 // schema.sql's user_version
static constexpr int64_t kApplicationId = 1413891138;  // and its application_id

Result<bool> is_blank(const Connection& connection) {
  FARM_TRY(int64_t objects, connection.number("SELECT count(*) FROM sqlite_schema"));
  FARM_TRY(int64_t application, connection.number("PRAGMA application_id"));
  return objects == 0 && application == 0;
}

Status check_version(const Connection& connection) {
  FARM_TRY(int64_t application, connection.number("PRAGMA application_id"));
  FARM_TRY(int64_t version, connection.number("PRAGMA user_version"));
  if (application != kApplicationId)
    return fail(ErrorCode::Corrupt, "file ", connection.path(), " is no database of this program");
  if (version > kVersion)
    return fail(ErrorCode::Unavailable, "database ", connection.path(), " is of version ", version,
                ", this program reads up to ", kVersion, "; use a newer program or choose another with --db");
  if (version < 1)
    return fail(ErrorCode::Corrupt, "database ", connection.path(), " is of version ", version, ", which never was");
  return {};
}

Status create_schema(const Connection& connection) {
  FARM_CHECK(connection.execute("BEGIN IMMEDIATE"));
  auto created = connection.execute(kSchema);
  if (created) created = connection.execute("COMMIT");
  if (!created && connection.in_transaction()) (void)connection.execute("ROLLBACK");
  return created;
}

}  // namespace farm
