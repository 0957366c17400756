// The last doubt about a kernel whose output was right: nobody computes faster than the machine can.
#pragma once
#include <optional>
#include <span>
#include <string>

#include "runtime/artifact.h"
#include "runtime/cpu/statistics.h"

namespace farm {

/// What is impossible about the samples; nothing for those that can be. Coarse on purpose: an algorithm may execute
/// fewer flops than are nominal, but not eight times fewer; and no core reads two terabytes a second. `golden_flops`:
/// of one golden block on all of the artifact's threads. Times are the clock's own, without the correction for drift,
/// and the peak is the best that this device ever showed: where others slow down every golden block of a short
/// measurement, both would accuse a kernel that was left alone.
std::optional<std::string> faster_than_physics(const Artifact& artifact, std::span<const Sample> samples,
                                               double golden_best_ns, double golden_flops);

}  // namespace farm
