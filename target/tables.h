// What is known beforehand: ISA levels and CPUs. Inner header of the room; one row a fact.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "target/target.h"

namespace farm {

/// An ISA level: all features of the level `below` it and its own.
struct IsaLevel {
  std::string_view name;
  std::string_view below;     ///< empty at the bottom
  std::string_view features;  ///< LLVM's names, separated by spaces
  int vector_bits;            ///< widest float vector
  int vector_registers;
};
/// Lowest first, one family after the other.
std::span<const IsaLevel> isa_levels();
const IsaLevel* find_level(std::string_view name);
/// Makes `target` a device of which only the level is known; its features stay as they are.
void take_level(Target& target, const IsaLevel& level);
/// The level's features and those of all levels below it, sorted.
std::vector<std::string> level_features(const IsaLevel& level);

/// A CPU by LLVM's name, with what a typical member has. Sizes in KiB: l1 and l2 a core, l3 whole.
struct CpuRow {
  std::string_view name;
  std::string_view level;
  std::string_view extra;  ///< features beyond the level
  int l1_kib, l2_kib, l3_kib;
};
std::span<const CpuRow> cpu_rows();
const CpuRow* find_cpu(std::string_view name);
/// All features that code for this CPU may use, sorted.
std::vector<std::string> cpu_features(const CpuRow& cpu);

/// Which CPUs a maker's family and model number may mean; the last one listed whose features are all there is meant.
struct CpuModel {
  std::string_view vendor;  ///< cpuid's: "GenuineIntel"
  int family, first_model, last_model;
  std::string_view cpus;  ///< names of rows, oldest first, separated by spaces
};
std::span<const CpuModel> cpu_models();

}  // namespace farm
