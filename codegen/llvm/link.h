// LLD in this process: objects become a position-independent shared object.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace farm::codegen {

struct LinkJob {
  std::vector<std::span<const std::byte>> objects;  ///< only ours: LLD ends the process on a malformed one
  std::vector<std::string> needed;  ///< libraries named as needed at run time: "libm.so.6"; none has to be there now
  std::string soname;               ///< may be empty
};

/// Thread-safe: LLD runs one link at a time, so callers wait for each other.
Result<std::vector<std::byte>> link_shared_object(const LinkJob& job);

}  // namespace farm::codegen
