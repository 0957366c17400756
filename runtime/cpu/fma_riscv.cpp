// The best FMA loop of a RISC-V core, with the vector extension where it has that.
#if defined(__riscv)
#include "runtime/cpu/fma_kernel.h"

namespace farm {

// One or two pipes with a latency of up to seven cycles. 1.0 times something tiny keeps sums finite and normal.
static void fma_scalar(uint64_t rounds) {
  asm volatile(
      ".irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n fmv.w.x f\\i, zero\n .endr\n"
      "fmv.w.x f30, %1\n fmv.w.x f31, %2\n"
      "1:\n"
      ".irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n fmadd.s f\\i, f30, f31, f\\i\n .endr\n"
      "addi %0, %0, -1\n bnez %0, 1b\n"
      : "+r"(rounds)
      : "r"(0x3f800000), "r"(0x1fc00000)
      : "f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12", "f13", "f14", "f15", "f30",
        "f31");
}

// The program itself is built without vectors, so its compiler knows no vector registers and keeps nothing in them.
#define WITH_VECTORS(body) ".option push\n .option arch, +v\n" body "\n.option pop\n"

static void fma_vector(uint64_t rounds) {
  asm volatile(WITH_VECTORS("vsetvli zero, %3, e32, m4, ta, ma\n"
                            ".irp i,0,4,8,12,16,20\n vmv.v.i v\\i, 0\n .endr\n"
                            "vmv.v.x v24, %1\n vmv.v.x v28, %2\n"
                            "1:\n"
                            ".irp i,0,4,8,12,16,20\n vfmacc.vv v\\i, v24, v28\n .endr\n"
                            "addi %0, %0, -1\n bnez %0, 1b")
               : "+r"(rounds)
               : "r"(0x3f800000), "r"(0x1fc00000), "r"(~uint64_t{0}));
}

/// float32 lanes of four registers.
static uint64_t lanes_of_four() {
  uint64_t lanes;
  asm volatile(WITH_VECTORS("vsetvli %0, %1, e32, m4, ta, ma") : "=r"(lanes) : "r"(~uint64_t{0}));
  return lanes;
}

FmaKernel widest_fma(const Target& target) {
  if (target.has("v")) return {6 * 2 * static_cast<double>(lanes_of_four()), fma_vector};
  return {16 * 2, fma_scalar};
}

}  // namespace farm
#endif
