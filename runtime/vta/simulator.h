// Plays a program: what it computes and how many cycles it takes. Deterministic: the same program and data give the
// same report on every host.
//
// The three modules run side by side. An instruction starts when its module is free, it has been fetched, and its
// tokens are there; it ends when its cycles are over, and its tokens are given then. Instructions are played in the
// order of their starts, so that a program whose tokens do not order its accesses still has one result, if maybe a
// wrong one; `find_races` names the first such pair of accesses.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/vta/program.h"
#include "runtime/vta/timing.h"

namespace farm::vta {

struct RunOptions {
  Timing timing;
  bool compute = true;      ///< false: only time is told, data is neither read nor written
  bool find_races = false;  ///< a race is a WrongResult, whatever came out
  int64_t most_cycles = int64_t{1} << 32;
};

struct RunReport {
  Outcome outcome = Outcome::Ok;  ///< or LaunchFailed, OutOfBounds, Timeout (too long, or modules that wait for each
                                  ///< other), WrongResult (a race; the host told too early)
  std::string detail;
  int64_t cycles = 0;
  std::array<int64_t, kEngines> busy_cycles{};  ///< load, compute, store; waiting for DRAM counts, for tokens does not
  int64_t gemm_cycles = 0;                      ///< of the compute module, multiplying
  int64_t multiply_adds = 0;
  int64_t bytes_read = 0, bytes_written = 0;  ///< DRAM; instructions not included
  int64_t instructions = 0;

  /// Share of the multiply-adds that the GEMM core could have done in these cycles.
  double gemm_utilisation() const;
  double nanoseconds(const Timing& timing) const { return static_cast<double>(cycles) * 1e3 / timing.clock_mhz; }
};

/// `read`: the operands that the program reads, in its order and as long as it says; `output`: what it writes. With
/// `compute` off both may be empty.
RunReport run(const Program& program, const std::vector<std::span<const std::byte>>& read, std::span<std::byte> output,
              const RunOptions& options = {});

}  // namespace farm::vta
