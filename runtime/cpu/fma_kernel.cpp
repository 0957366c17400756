#include "runtime/cpu/fma_kernel.h"

#include <algorithm>
#include <vector>

#include "runtime/cpu/host_time.h"

namespace farm {

uint64_t calibrate_rounds(const FmaKernel& kernel, double duration_ns) {
  constexpr uint64_t kProbe = 2000;
  double best = 1e18;
  for (int i = 0; i < 20; ++i) {
    double begin = host_time_ns();
    kernel.run(kProbe);
    best = std::min(best, host_time_ns() - begin);
  }
  return std::max<uint64_t>(1, static_cast<uint64_t>(kProbe * duration_ns / std::max(best, 1.0)));
}

double time_fma_block(const FmaKernel& kernel, uint64_t rounds, farm_call_context* context, int threads) {
  struct Block {
    const FmaKernel& kernel;
    uint64_t rounds;
    std::vector<double> elapsed;
  } block{kernel, rounds, std::vector<double>(static_cast<size_t>(threads))};
  auto body = [](void* closure, int64_t, int64_t, int32_t worker) {
    auto& block = *static_cast<Block*>(closure);
    double begin = host_time_ns();
    block.kernel.run(block.rounds);
    block.elapsed[static_cast<size_t>(worker)] = host_time_ns() - begin;
  };
  context->parallel_for(context, threads, body, &block);
  return std::ranges::max(block.elapsed);
}

}  // namespace farm
