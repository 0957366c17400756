// The best FMA loop of an Arm core of 64 or 32 bits.
#if defined(__aarch64__) || defined(__arm__)
#include <algorithm>

#include "runtime/cpu/fma_kernel.h"

namespace farm {

#if defined(__aarch64__)

// Four pipes with a latency of four cycles, the widest cores of today, need sixteen accumulators; 24 leave the loop's
// own two instructions unseen. 1.0 times something tiny keeps sums finite and normal.
static void fma128(uint64_t rounds) {
  asm volatile(
      ".irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23\n movi v\\i\\().4s, #0\n .endr\n"
      "dup v30.4s, %w1\n dup v31.4s, %w2\n"
      ".p2align 5\n 1:\n"
      ".irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23\n"
      " fmla v\\i\\().4s, v30.4s, v31.4s\n .endr\n"
      "subs %0, %0, #1\n b.ne 1b\n"
      : "+r"(rounds)
      : "r"(0x3f800000), "r"(0x1fc00000)
      : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16",
        "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v30", "v31", "cc");
}

FmaKernel widest_fma(const Target&) { return {24 * 4 * 2, fma128}; }

#else

// One pipe of the cores of this size takes four or two floats at once, with up to eight cycles of latency.
#define ACCUMULATE(instruction)                                                                          \
  for (uint32_t block; rounds > 0; rounds -= block) {                                                    \
    block = static_cast<uint32_t>(std::min<uint64_t>(rounds, 1u << 30));                                 \
    uint32_t left = block;                                                                               \
    asm volatile(                                                                                        \
        ".irp i,0,1,2,3,4,5,6,7,8,9,10,11\n vmov.i32 q\\i, #0\n .endr\n"                                 \
        "vdup.32 q14, %1\n vdup.32 q15, %2\n"                                                            \
        ".p2align 4\n 1:\n"                                                                              \
        ".irp i,0,1,2,3,4,5,6,7,8,9,10,11\n " instruction                                                \
        " q\\i, q14, q15\n .endr\n"                                                                      \
        "subs %0, %0, #1\n bne 1b\n"                                                                     \
        : "+r"(left)                                                                                     \
        : "r"(0x3f800000), "r"(0x1fc00000)                                                               \
        : "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8", "q9", "q10", "q11", "q14", "q15", "cc"); \
  }

[[gnu::target("fpu=neon-vfpv4")]] static void fma128(uint64_t rounds) { ACCUMULATE("vfma.f32") }
static void mul_add128(uint64_t rounds){ACCUMULATE("vmla.f32")}  // rounds twice, as cores before the Cortex-A7 must
#undef ACCUMULATE

FmaKernel widest_fma(const Target& target) {
  return {12 * 4 * 2, target.has("vfp4") ? fma128 : mul_add128};
}

#endif

}  // namespace farm
#endif
