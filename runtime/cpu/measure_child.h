// The process that loads, checks and times artifacts: forked from the runner, used for one job, then gone.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/cpu/fma_kernel.h"
#include "runtime/cpu/guarded_buffer.h"
#include "runtime/encoding.h"

namespace farm {

/// What a child is asked to do; everything is borrowed from the runner's memory, of which it has a copy.
struct ChildJob {
  std::vector<const Artifact*> artifacts;                 ///< more than one: interleaved
  std::vector<const std::vector<GuardedBuffer>*> inputs;  ///< one an artifact: its inputs, then its constants
  std::span<const float> expected, terms;
  double tolerance = 1e-5;
  MeasurePolicy policy;
  double best_ns = 0;
  std::vector<int> cores;  ///< all that may be used; an artifact takes the first `threads`
  FmaKernel golden;
  uint64_t golden_rounds = 0;
  std::span<const double> golden_best_ns;  ///< by threads - 1; 0 when unknown
  int peak_blocks = 0;                     ///< golden blocks to run beyond those between samples
  int peak_threads = 1;                    ///< workers that these run on
  bool times_count = true;                 ///< false in an emulator: no priority over others, no verdict on times
};

/// What it answers when it comes to its end.
struct ChildReply {
  std::vector<Measurement> measurements;  ///< one an artifact
  double golden_ns = 0;                   ///< smallest golden block on `peak_threads` workers; 0 when none ran
  bool filtered = false;                  ///< system calls were forbidden
};
void encode(ByteWriter& out, const ChildReply& value);
void decode(ByteReader& in, ChildReply& value);

/// Shared with the runner, so that it knows what a child was at when it died. Written by the child and its handlers.
struct ChildReport {
  volatile int32_t active = 0;  ///< index of the artifact that is running
  volatile int32_t steps = 0;   ///< rises with each call that came back
  volatile int32_t signal = 0;  ///< the one that ended it
  volatile int32_t out_of_bounds = 0;
  volatile uint64_t address = 0;  ///< that it faulted at
  char where[GuardedBuffer::kWhereBytes] = {};
};

/// Runs in the child; never fails: whatever an artifact does wrong is in its Measurement, or the process dies.
ChildReply run_child_job(const ChildJob& job, ChildReport& report);

}  // namespace farm
