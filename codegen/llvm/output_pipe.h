// Where LLD writes: it insists on a path, and replaces what is there by a file of its own unless that is a pipe.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace farm::codegen {

/// Calls `write(path)` with a path that may be opened and written while the call lasts; returns what was written.
/// A thread reads along, so that the writer never waits for us.
Result<std::vector<std::byte>> capture_output(const std::function<Status(const std::string& path)>& write);

}  // namespace farm::codegen
