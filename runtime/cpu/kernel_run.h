// One loaded artifact with its memory: load, prepack, check, and calls to be timed.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "runtime/cpu/elf_loader.h"
#include "runtime/cpu/guarded_buffer.h"
#include "runtime/cpu/output_check.h"
#include "runtime/kernel_abi.h"
#include "runtime/measurement.h"

namespace farm {

/// What went wrong with a candidate.
struct Fault {
  Outcome outcome;
  std::string detail;
};
template <class T = void>
using Attempt = std::expected<T, Fault>;

/// Belongs to one thread, the one that calls it.
class KernelRun {
 public:
  /// `inputs`: the artifact's inputs, then its constants; borrowed, like `artifact` and `context`. Its own buffers take
  /// kSlots of GuardedBuffer's slots from `first_slot` on.
  static constexpr int kSlots = 3;
  static Attempt<KernelRun> load(const Artifact& artifact, const std::vector<GuardedBuffer>& inputs,
                                 farm_call_context* context, int first_slot);

  /// Every buffer that the artifact may touch.
  std::vector<const GuardedBuffer*> buffers() const;

  /// Makes the packed constants and takes the time of it in nanoseconds. Before the first call.
  Attempt<double> prepack();
  /// Poisons the output, calls once and compares; then all guard zones must be whole.
  Attempt<double> checked_call(std::span<const float> expected, std::span<const float> terms, double tolerance);
  /// Mean time of a call, in nanoseconds, over `calls` calls in a row.
  Attempt<double> timed_calls(int64_t calls);
  /// Its own buffers in other physical memory; the calls that follow go on as before.
  void change_pages();
  /// Writes all of its data back to memory and drops it from the caches. False where the ISA cannot.
  bool flush_caches() const;

 private:
  explicit KernelRun(LoadedObject object) : object_(std::move(object)) {}
  Attempt<> check_guards() const;

  const Artifact* artifact_ = nullptr;
  const std::vector<GuardedBuffer>* inputs_ = nullptr;
  farm_call_context* context_ = nullptr;
  LoadedObject object_;
  farm_kernel run_ = nullptr, prepack_ = nullptr;
  std::vector<GuardedBuffer> own_;  // packed, output, workspace
  std::vector<void*> run_arguments_, prepack_arguments_;
};

}  // namespace farm
