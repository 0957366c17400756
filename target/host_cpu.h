// What the CPU says about itself, in one form for every ISA; host_<isa>.cpp asks it. Inner header of the room.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace farm {

struct HostCpu {
  std::vector<std::string> features;   ///< LLVM's names, sorted, of those that this project knows
  std::string model;                   ///< what the maker calls it; may be empty
  std::string maker;                   ///< as in CpuModel::vendor
  int family = 0, number = 0;          ///< CpuModel's family and model; 0 when unknown
  int64_t cache_bytes[3] = {0, 0, 0};  ///< of levels 1 to 3, where the CPU itself tells them
};

HostCpu read_host_cpu();

}  // namespace farm
