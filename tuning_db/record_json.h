// Private to the room `tuning_db`: a record as JSON. The only file that knows the JSON library is record_json.cpp.
#pragma once
#include <string>
#include <string_view>

#include "tuning_db/record.h"

namespace farm {

/// Everything but the samples and the hash: what a row's `body` holds.
std::string body_from_record(const Record& record);
/// Corrupt, naming the field, when it is no such text. Samples stay empty.
Result<Record> record_from_body(std::string_view body);

/// The record as it can be stored: texts made valid UTF-8, the time of a failed one zero, doubled environment keys
/// dropped. InvalidArgument for what must never be stored: no task, a good outcome without a positive latency.
Result<Record> storable(Record record);

}  // namespace farm
