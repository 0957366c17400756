// The best FMA loop of an x86-64 core.
#if defined(__x86_64__)
#include "runtime/cpu/fma_kernel.h"

namespace farm {

// Inline assembly, so that no compiler folds the loop away and one build holds every width. Twelve accumulators: two
// pipes with a latency of four cycles need at least eight. 1.0 times something tiny keeps sums finite and normal.
#define ACCUMULATE(reg, clear, body)                                                                               \
  asm volatile(clear                                                                                               \
               ".irp i,0,1,2,3,4,5,6,7,8,9,10,11\n vpxor %%xmm\\i,%%xmm\\i,%%xmm\\i\n .endr\n"                     \
               "vmovd %1,%%xmm14\n vbroadcastss %%xmm14,%%" reg                                                    \
               "14\n"                                                                                              \
               "vmovd %2,%%xmm15\n vbroadcastss %%xmm15,%%" reg                                                    \
               "15\n"                                                                                              \
               ".p2align 5\n 1:\n"                                                                                 \
               ".irp i,0,1,2,3,4,5,6,7,8,9,10,11\n " body " %%" reg "14,%%" reg "15,%%" reg                        \
               "\\i\n .endr\n"                                                                                     \
               "dec %0\n jnz 1b\n vzeroupper\n"                                                                    \
               : "+r"(rounds)                                                                                      \
               : "r"(0x3f800000), "r"(0x1fc00000)                                                                  \
               : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", \
                 "xmm14", "xmm15", "cc")

static void fma512(uint64_t rounds) { ACCUMULATE("zmm", "", "vfmadd231ps"); }
static void fma256(uint64_t rounds) { ACCUMULATE("ymm", "", "vfmadd231ps"); }
#undef ACCUMULATE

/// Without FMA the best is a multiply and an add a cycle.
static void mul_add128(uint64_t rounds) {
  asm volatile(
      ".irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13\n xorps %%xmm\\i,%%xmm\\i\n .endr\n"
      "movd %1,%%xmm14\n shufps $0,%%xmm14,%%xmm14\n"
      ".p2align 5\n 1:\n"
      ".irp i,0,1,2,3,4,5\n addps %%xmm14,%%xmm\\i\n .endr\n"
      ".irp i,6,7,8,9,10,11\n mulps %%xmm14,%%xmm\\i\n .endr\n"
      "dec %0\n jnz 1b\n"
      : "+r"(rounds)
      : "r"(0x1fc00000)
      : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
        "xmm13", "xmm14", "cc");
}

FmaKernel widest_fma(const Target& target) {
  if (target.has("avx512f")) return {12 * 16 * 2, fma512};
  if (target.has("fma") && target.has("avx2")) return {12 * 8 * 2, fma256};
  return {12 * 4, mul_add128};
}

}  // namespace farm
#endif
