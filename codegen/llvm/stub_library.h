// An empty shared library with a given name: linking against it records that the real one is needed at run time.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace farm::codegen {

/// x86-64 ELF; exports nothing. Lets us link for a system whose libraries are not installed here.
std::vector<std::byte> stub_library(const std::string& soname);

}  // namespace farm::codegen
