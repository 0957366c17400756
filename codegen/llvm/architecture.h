// The ISA families that LLVM makes code for here, one row each.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"

namespace farm::codegen {

struct Architecture {
  std::string_view family;  ///< isa_family of a target
  const char* triple;
  const char* generic_cpu;  ///< LLVM's name for a member of which only the level is known; empty: the level's own name
  const char* abi;          ///< LLVM's name; empty: the triple's own
  bool hard_float;          ///< must be asked for
  uint16_t elf_machine;
  /// What LLVM may take from a CPU's name and a device may still lack (virtual machines hide features).
  std::span<const char* const> selectable;
  std::string_view fma_feature;  ///< the one with which it multiplies and adds in one instruction
  void (*initialize)();
};

/// Fails on a family that has no row, with those that have.
Result<const Architecture*> architecture_of(std::string_view isa);

}  // namespace farm::codegen
