// Small programs of the accelerator, for tests.
#pragma once
#include <cstring>
#include <vector>

#include "base/rng.h"
#include "runtime/vta/vta.h"
#include "target/vta.h"

namespace farm::vta {

inline constexpr Tokens kPopPrev{.pop_prev = true}, kPopNext{.pop_next = true}, kPushPrev{.push_prev = true},
    kPushNext{.push_next = true};

/// out[16] = shift(weight[16][16] * input[16]) as int8, by one of everything.
inline Program one_of_everything() {
  Program program;
  program.bitstream = vta_bitstream();
  program.read_bytes = {16, 256};
  program.output_bytes = 16;
  program.uops = {encode(Uop{3, 5, 7})};
  Gemm gemm{.uop_begin = 0, .uop_end = 1};
  Gemm reset = gemm;
  reset.reset = true;
  Alu shift{.op = AluOp::ShiftRight, .uop_begin = 0, .uop_end = 1, .use_immediate = true, .immediate = 4};
  program.instructions = {
      {{}, Load{.memory = Memory::Input, .operand = 0, .sram = 5, .y_size = 1, .x_size = 1, .x_stride = 1}},
      {kPushNext, Load{.memory = Memory::Weight, .operand = 1, .sram = 7, .y_size = 1, .x_size = 1, .x_stride = 1}},
      {{}, Load{.memory = Memory::Uop, .y_size = 1, .x_size = 1, .x_stride = 1}},
      {{}, reset},
      {kPopPrev, gemm},
      {kPushNext, shift},
      {{.pop_prev = true, .push_prev = true}, Store{.operand = 2, .sram = 3, .y_size = 1, .x_size = 1, .x_stride = 1}},
      {kPopNext, Finish{}},
  };
  return program;
}

inline std::vector<std::byte> random_bytes(Rng& rng, size_t count) {
  std::vector<std::byte> bytes(count);
  for (auto& byte : bytes) byte = static_cast<std::byte>(rng.below(256));
  return bytes;
}

}  // namespace farm::vta
