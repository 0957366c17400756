// One cycle of the GEMM core.
#pragma once
#include <cstdint>

namespace farm::vta {

/// accumulator[k] += sum over c of input[c] * weight[k][c], modulo 2^32; 16 lanes, 16 channels.
void multiply_add(int32_t* accumulator, const int8_t* input, const int8_t* weight);

}  // namespace farm::vta
