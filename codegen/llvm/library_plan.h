// What an exported library offers: the one description from which its code and its header are made.
#pragma once
#include <string>
#include <vector>

#include "codegen/codegen.h"

namespace farm::codegen {

struct LibraryPlan {
  std::string name;
  int threads = 1;
  std::string comment;
  std::vector<Buffer> operands;  ///< of NAME, in the task's order
  std::vector<Buffer> inputs, constants;
  Buffer output;
  std::map<std::string, Shape> shapes;  ///< as people know them; a buffer that is not here is flat
  int64_t packed_bytes = 0, workspace_bytes = 0;
};

/// Checks the options against the module.
Result<LibraryPlan> plan_library(const Module& module, const LibraryOptions& options);

/// The C header.
std::string library_header(const LibraryPlan& plan, const Target& target);

}  // namespace farm::codegen
