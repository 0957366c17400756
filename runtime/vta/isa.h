// The instruction set of the accelerator: 128-bit words, executed by three modules that run at the same time.
//
//   module   executes                                   reads                          writes
//   load     loads of inputs and weights                DRAM                           input, weight
//   compute  loads of uops and accumulators, GEMM,      DRAM, uop, input, weight,      uop, accumulator, output
//            ALU, FINISH                                accumulator
//   store    stores of outputs                          output                         DRAM
//
// Each module executes its own instructions in the program's order and knows nothing of the others. What keeps them
// apart is tokens in four queues, one for each direction between neighbours: load <-> compute <-> store. An instruction
// may wait for a token of the module before it (pop_prev) and of the one behind it (pop_next) before it starts, and
// give one to either when it is done (push_prev, push_next). The load module has no module before it, the store module
// none behind it.
//
// Memories on the chip hold elements, and every address counts elements:
//   uop          32-bit micro-operations, what a GEMM or ALU instruction repeats (see Uop)
//   input        16 int8
//   weight       16 x 16 int8, a row for each output channel
//   accumulator  16 int32
//   output       16 int8: whatever is written to an accumulator, its low 8 bits stand in the output of that address
//
// Layout of the words: fields from bit 0 on in the order of the structs below, opcode and flags first; unused bits are
// zero. Anything else is refused when a program is decoded.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <variant>

#include "base/result.h"

namespace farm::vta {

enum class Engine : uint8_t { Load, Compute, Store };
inline constexpr int kEngines = 3;
std::string to_string(Engine engine);

enum class Memory : uint8_t { Uop, Weight, Input, Accumulator, Output };
inline constexpr int kMemories = 5;
std::string to_string(Memory memory);
int64_t elements_of(Memory memory);    ///< capacity
int64_t element_bytes(Memory memory);  ///< of one element in DRAM and on the chip

/// Tokens that an instruction waits for and gives.
struct Tokens {
  bool pop_prev = false;   ///<  1 bit
  bool pop_next = false;   ///<  1 bit
  bool push_prev = false;  ///<  1 bit
  bool push_next = false;  ///<  1 bit
  bool operator==(const Tokens&) const = default;
};

/// Copies `y_size` rows of `x_size` elements from DRAM, where rows begin `x_stride` elements apart, to elements on the
/// chip one behind the other; around them, padding of zeros that comes from nowhere:
///   y_pad_top rows, then rows of x_pad_left, the elements, x_pad_right; then y_pad_bottom rows.
/// A size of 0 reads nothing: only padding is written.
struct Load {
  Memory memory = Memory::Input;  ///<  3 bits; not output
  uint32_t operand = 0;           ///<  4 bits; which of the program's operands; 0 for uops, which come from the program
  uint32_t sram = 0;              ///< 13 bits; first element written
  uint32_t dram = 0;              ///< 32 bits; first element read, counted from the operand's start; then 5 unused bits
  uint32_t y_size = 0;            ///< 16 bits
  uint32_t x_size = 0;            ///< 16 bits
  uint32_t x_stride = 0;          ///< 16 bits
  uint32_t y_pad_top = 0;         ///<  4 bits
  uint32_t y_pad_bottom = 0;      ///<  4 bits
  uint32_t x_pad_left = 0;        ///<  4 bits
  uint32_t x_pad_right = 0;       ///<  4 bits
  bool operator==(const Load&) const = default;

  int64_t row() const { return int64_t{x_pad_left} + x_size + x_pad_right; }
  int64_t rows() const { return int64_t{y_pad_top} + y_size + y_pad_bottom; }
  int64_t read() const { return int64_t{y_size} * x_size; }
};

/// Copies elements of the output memory that lie one behind the other to `y_size` rows of `x_size` elements in DRAM.
struct Store {
  uint32_t operand = 0;   ///<  4 bits
  uint32_t sram = 0;      ///< 13 bits; first element read
  uint32_t dram = 0;      ///< 32 bits; first element written; then 8 unused bits
  uint32_t y_size = 0;    ///< 16 bits
  uint32_t x_size = 0;    ///< 16 bits
  uint32_t x_stride = 0;  ///< 16 bits; then 16 unused bits
  bool operator==(const Store&) const = default;

  int64_t written() const { return int64_t{y_size} * x_size; }
};

/// for i in 0 .. iter_out: for j in 0 .. iter_in: for uop in uop_begin .. uop_end:
///   a = uop.accumulator + i*accumulator_out + j*accumulator_in, and so on for input and weight
///   reset:  accumulator[a] = 0
///   else:   accumulator[a][k] += sum over c of input[n][c] * weight[w][k][c], modulo 2^32
struct Gemm {
  bool reset = false;            ///<  1 bit
  uint32_t uop_begin = 0;        ///< 13 bits
  uint32_t uop_end = 0;          ///< 14 bits; behind the last one
  uint32_t iter_out = 1;         ///< 14 bits; from 1
  uint32_t iter_in = 1;          ///< 14 bits; from 1; then 1 unused bit
  uint32_t accumulator_out = 0;  ///< 11 bits
  uint32_t accumulator_in = 0;   ///< 11 bits
  uint32_t input_out = 0;        ///< 11 bits
  uint32_t input_in = 0;         ///< 11 bits
  uint32_t weight_out = 0;       ///< 10 bits
  uint32_t weight_in = 0;        ///< 10 bits
  bool operator==(const Gemm&) const = default;
};

enum class AluOp : uint8_t { Min, Max, Add, ShiftRight };
std::string to_string(AluOp op);

/// The same loops. For each lane: accumulator[d] = op(accumulator[d], use_immediate ? immediate : accumulator[s]),
/// d from the uop's accumulator, s from its input field. Add is modulo 2^32. A right shift keeps the sign; it takes the
/// low 5 bits of its amount and never shifts left.
struct Alu {
  AluOp op = AluOp::Min;         ///<  2 bits
  uint32_t uop_begin = 0;        ///< 13 bits
  uint32_t uop_end = 0;          ///< 14 bits
  uint32_t iter_out = 1;         ///< 14 bits
  uint32_t iter_in = 1;          ///< 14 bits
  uint32_t destination_out = 0;  ///< 11 bits
  uint32_t destination_in = 0;   ///< 11 bits
  uint32_t source_out = 0;       ///< 11 bits
  uint32_t source_in = 0;        ///< 11 bits
  bool use_immediate = false;    ///<  1 bit
  int32_t immediate = 0;         ///< 16 bits, signed; then 3 unused bits
  bool operator==(const Alu&) const = default;
};

/// The last instruction of every program, and its only one: the host is told that the result is there.
struct Finish {
  bool operator==(const Finish&) const = default;
};

struct Instruction {
  Tokens tokens;
  std::variant<Load, Store, Gemm, Alu, Finish> body;
  bool operator==(const Instruction&) const = default;
};

Engine engine_of(const Instruction& instruction);
/// "gemm", "load of input" ...: for a person who reads what went wrong.
std::string describe(const Instruction& instruction);

/// What GEMM and ALU repeat: 11 bits accumulator (of ALU: destination), 11 bits input (source), 10 bits weight.
struct Uop {
  uint32_t accumulator = 0, input = 0, weight = 0;
  bool operator==(const Uop&) const = default;
};
uint32_t encode(const Uop& uop);
Uop decode_uop(uint32_t word);

using Word = std::array<uint64_t, 2>;
/// A field that does not fit is a bug of whoever made the instruction.
Word encode(const Instruction& instruction);
/// Corrupt for an unknown opcode, memory or unused bits that are set.
Result<Instruction> decode(const Word& word);

/// Whether the value fits into so many bits: what a code generator asks before it fills a field.
constexpr bool fits_field(int64_t value, int bits) { return value >= 0 && value < (int64_t{1} << bits); }

}  // namespace farm::vta
