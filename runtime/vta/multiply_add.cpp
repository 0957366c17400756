#include "runtime/vta/multiply_add.h"

#include "target/vta.h"

// Nine tenths of a simulation's time are spent here.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define FARM_VTA_WIDE __attribute__((target_clones("avx2", "default"), optimize("O3")))
#else
#define FARM_VTA_WIDE
#endif

namespace farm::vta {

FARM_VTA_WIDE void multiply_add(int32_t* accumulator, const int8_t* input, const int8_t* weight) {
  for (int64_t k = 0; k < kVtaBlock; ++k) {
    int32_t sum = 0;
    for (int64_t c = 0; c < kVtaBlock; ++c) sum += int32_t{input[c]} * int32_t{weight[k * kVtaBlock + c]};
    accumulator[k] = static_cast<int32_t>(static_cast<uint32_t>(accumulator[k]) + static_cast<uint32_t>(sum));
  }
}

}  // namespace farm::vta
