// `tuning_db devices`: what is known of boards, phones and cards that nobody has connected yet.
#pragma once
#include <string>

#include "base/result.h"

namespace farm {

/// One line a device, or all that is known of the one called `name`, with sources. InvalidArgument with the nearest
/// names when there is none.
Result<std::string> known_devices_table(const std::string& name);
/// The same as the JSON document of docs/JSON.md, one device when there is a name.
Result<std::string> known_devices_json(const std::string& name);

}  // namespace farm
