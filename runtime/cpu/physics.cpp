#include "runtime/cpu/physics.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace farm {

std::optional<std::string> faster_than_physics(const Artifact& artifact, std::span<const Sample> samples,
                                               double golden_best_ns, double golden_flops) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  double call_ns = kNever, golden_ns = golden_best_ns > 0 ? golden_best_ns : kNever;
  for (const Sample& sample : samples) {
    call_ns = std::min(call_ns, sample.call_ns);
    if (sample.golden_ns > 0) golden_ns = std::min(golden_ns, sample.golden_ns);
  }
  double flops_ns = artifact.flops / call_ns, peak_flops_ns = golden_ns < kNever ? golden_flops / golden_ns : kNever;
  if (flops_ns > 8 * peak_flops_ns)
    return fmt::format("faster than physics: {:.0f} GFLOP/s when the peak is {:.0f}", flops_ns, peak_flops_ns);
  int64_t bytes = artifact.output.bytes();
  for (const auto& input : artifact.inputs) bytes += input.bytes();
  double bytes_ns = static_cast<double>(bytes) / call_ns;
  if (bytes_ns > 2000.0 * artifact.threads)
    return fmt::format("faster than physics: its inputs and output at {:.0f} GB/s", bytes_ns);
  return std::nullopt;
}

}  // namespace farm
