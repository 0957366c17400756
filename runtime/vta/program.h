// A program of the accelerator as it travels: the blob of an artifact of format Vta.
//
//   u32   magic "FVTA"              u32   version
//   hash  bitstream that it was made for
//   list  operands that are read: i64 bytes each          i64  bytes of the output
//   list  packings: how the host rearranges constant operands before the first run
//   list  uops: u32 each            list  instructions: two u64 each
//
// Operands are numbered as they are listed, the output comes behind them. Numbers are little-endian; a list is a u32
// count, then its items; see base/bytes.h.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/hash.h"
#include "runtime/measurement.h"
#include "runtime/vta/isa.h"

namespace farm::vta {

/// Limits that the decoder enforces.
inline constexpr size_t kMaxOperandsRead = 15;
inline constexpr size_t kMaxPackings = 8;
inline constexpr size_t kMaxPackedDims = 8;
inline constexpr size_t kMaxUops = 1 << 20;
inline constexpr size_t kMaxInstructions = 1 << 20;
inline constexpr int64_t kMaxOperandBytes = int64_t{1} << 31;

/// One dimension of a packed operand: a step of it is `step` steps along `dim` of the source.
struct PackedDim {
  int64_t extent = 1;
  uint32_t dim = 0;
  int64_t step = 1;
  bool operator==(const PackedDim&) const = default;
};

/// packed[i0, i1, ...] = source[for each dim d: sum of i*step over the packed dims of d], zero where that lies outside.
/// int8, both row-major; the packed tensor begins `offset` bytes into the packed operand.
struct Packing {
  std::vector<int64_t> source;  ///< shape of the constant operand; one packing for each, in order
  int64_t offset = 0;
  std::vector<PackedDim> dims;
  bool operator==(const Packing&) const = default;
};

struct Program {
  Hash bitstream;
  std::vector<int64_t> read_bytes;  ///< operands that are only read: inputs, then the packed constants, if any
  int64_t output_bytes = 0;         ///< the operand behind them, only written
  std::vector<Packing> packings;
  std::vector<uint32_t> uops;
  std::vector<Instruction> instructions;
  bool operator==(const Program&) const = default;
};

std::vector<std::byte> encode(const Program& program);
/// Corrupt for anything that `encode` does not write. What comes out may still be wrong: see find_fault.
Result<Program> decode_program(std::span<const std::byte> bytes);

/// Why a program does not run, in the words of a measurement.
struct Fault {
  Outcome outcome = Outcome::LaunchFailed;
  std::string detail;
};

/// What can be told without running: another bitstream, a FINISH that is missing or in the middle, tokens of neighbours
/// that are not there (LaunchFailed); addresses beyond a memory or an operand (OutOfBounds). Nothing when all is well.
std::optional<Fault> find_fault(const Program& program);

/// The packed operand that the packings make of the constants, `bytes` long. A packing that reaches outside it is a
/// fault of the program.
std::expected<std::vector<std::byte>, Fault> pack(const Program& program, int64_t bytes,
                                                  const std::vector<std::span<const std::byte>>& constants);

}  // namespace farm::vta
