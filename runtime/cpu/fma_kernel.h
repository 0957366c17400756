// The best float32 FMA loop: the peak that shares are counted against, and the golden kernel that every measurement
// interleaves, so that a throttled or disturbed device shows.
#pragma once
#include <cstdint>

#include "runtime/kernel_abi.h"
#include "target/target.h"

namespace farm {

/// Multiply-adds in registers alone, as many as the core can start, in the widest vectors that `target` has.
struct FmaKernel {
  double flops_per_round = 0;
  void (*run)(uint64_t rounds) = nullptr;
};
FmaKernel widest_fma(const Target& target);

/// Rounds that take this core about `duration_ns`.
uint64_t calibrate_rounds(const FmaKernel& kernel, double duration_ns);

/// Runs `rounds` on each of `threads` workers at once; the time of the slowest in nanoseconds, without the fork and
/// join.
double time_fma_block(const FmaKernel& kernel, uint64_t rounds, farm_call_context* context, int threads);

}  // namespace farm
