// Where the libraries of a task or a network go, and what their functions are called.
#pragma once
#include <string>
#include <vector>

#include "apps/compile_output.h"
#include "base/result.h"
#include "tensor/tensor.h"

namespace farm {

/// As given on the command line; empty: chosen from the task's name.
struct Places {
  std::string name, output, header;
};

/// A C identifier that is no word of C or C++, or empty.
Status check_library_name(const std::string& name);

/// One task: a library and a header. A network: a folder of them, NAME_<layer>; see make_folder.
Result<std::vector<CompiledLayer>> place_layers(const Places& places, const Network& network, int threads);

/// Of a network's library, when it is not there. Done once there is something to write into it.
Status make_folder(const CompiledLayer& layer);

}  // namespace farm
