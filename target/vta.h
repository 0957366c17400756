// VTA, the generic deep-learning accelerator of the TVM paper, as a bitstream fixes it. The lengths of its memories are
// what a schedule must fit into; its name is what code and device must agree upon.
//
// One GEMM a cycle: accumulator[16] += weight[16][16] * input[16], int8 x int8 -> int32, batch 1.
// Source: apache/tvm-vta, the default configuration.
#pragma once
#include <cstdint>
#include <string>

#include "base/hash.h"
#include "target/target.h"

namespace farm {

inline constexpr int64_t kVtaBlock =
    16;  ///< lanes of an input, an accumulator and an output; a weight has their square

/// Logarithms of the bytes of each memory. The output memory mirrors the accumulators: element for element, a quarter
/// of the bytes.
struct VtaConfig {
  int uop_log2_bytes = 15;
  int input_log2_bytes = 15;
  int weight_log2_bytes = 18;
  int accumulator_log2_bytes = 17;

  // In elements, the unit of every address on the chip.
  constexpr int64_t uops() const { return (int64_t{1} << uop_log2_bytes) / 4; }
  constexpr int64_t inputs() const { return (int64_t{1} << input_log2_bytes) / kVtaBlock; }
  constexpr int64_t weights() const { return (int64_t{1} << weight_log2_bytes) / (kVtaBlock * kVtaBlock); }
  constexpr int64_t accumulators() const { return (int64_t{1} << accumulator_log2_bytes) / (4 * kVtaBlock); }

  /// "1x16_i8w8a32_15_15_18_17": batch and block, the widths of the types, the logarithms in the order above.
  std::string text() const;
  bool operator==(const VtaConfig&) const = default;
};

/// The configuration that code is made for and that the simulator plays.
inline constexpr VtaConfig kVtaConfig{};

/// Identity of the bitstream: code made for another one is refused.
Hash vta_bitstream();

/// ISA "vta", the configuration as its CPU's name. Its clock is the model's: see runtime/vta/simulator.h.
Target vta_target();

/// Whether it is one of these devices.
inline bool is_vta(const Target& target) { return target.isa == "vta"; }

}  // namespace farm
