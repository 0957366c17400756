#include "runtime/cpu/kernel_run.h"

#include "runtime/cpu/host_time.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace farm {

enum Own { kPacked, kOutput, kWorkspace };

static std::unexpected<Fault> fault(Outcome outcome, std::string detail) {
  return std::unexpected(Fault{outcome, std::move(detail)});
}

static Attempt<> allocate(std::vector<GuardedBuffer>& buffers, int64_t bytes, const char* name, int slot) {
  auto buffer = GuardedBuffer::make(static_cast<size_t>(bytes), name, slot);
  if (!buffer) return fault(Outcome::LaunchFailed, buffer.error().message);
  buffer->poison();
  buffers.push_back(std::move(*buffer));
  return {};
}

Attempt<KernelRun> KernelRun::load(const Artifact& artifact, const std::vector<GuardedBuffer>& inputs,
                                   farm_call_context* context, int first_slot) {
  auto object = LoadedObject::load(artifact.blob);
  if (!object) return fault(Outcome::LaunchFailed, object.error().message);
  KernelRun kernel(std::move(*object));
  kernel.artifact_ = &artifact;
  kernel.inputs_ = &inputs;
  kernel.context_ = context;
  kernel.run_ = reinterpret_cast<farm_kernel>(kernel.object_.function(artifact.run_symbol));
  if (!kernel.run_) return fault(Outcome::LaunchFailed, "the shared object has no function " + artifact.run_symbol);
  if (!artifact.constants.empty()) {
    kernel.prepack_ = reinterpret_cast<farm_kernel>(kernel.object_.function(artifact.prepack_symbol));
    if (!kernel.prepack_)
      return fault(Outcome::LaunchFailed, "the shared object has no function " + artifact.prepack_symbol);
  }

  for (auto [bytes, name] : {std::pair{artifact.packed_bytes, "packed constants"},
                             {artifact.output.bytes(), "output"},
                             {artifact.workspace_bytes, "workspace"}})
    if (auto done = allocate(kernel.own_, bytes, name, first_slot++); !done) return std::unexpected(done.error());

  for (size_t i = 0; i < inputs.size(); ++i)
    (i < artifact.inputs.size() ? kernel.run_arguments_ : kernel.prepack_arguments_).push_back(inputs[i].data());
  if (kernel.prepack_) {
    kernel.run_arguments_.push_back(kernel.own_[kPacked].data());
    kernel.prepack_arguments_.push_back(kernel.own_[kPacked].data());
  }
  kernel.run_arguments_.push_back(kernel.own_[kOutput].data());
  kernel.run_arguments_.push_back(kernel.own_[kWorkspace].data());
  return kernel;
}

std::vector<const GuardedBuffer*> KernelRun::buffers() const {
  std::vector<const GuardedBuffer*> all;
  for (const auto& buffer : *inputs_) all.push_back(&buffer);
  for (const auto& buffer : own_) all.push_back(&buffer);
  return all;
}

Attempt<> KernelRun::check_guards() const {
  for (const auto* buffer : buffers())
    if (auto broken = buffer->broken_canary()) return fault(Outcome::OutOfBounds, *broken);
  return {};
}

Attempt<double> KernelRun::prepack() {
  if (!prepack_) return 0.0;
  double begin = host_time_ns();
  int32_t code = prepack_(context_, prepack_arguments_.data());
  double elapsed = host_time_ns() - begin;
  if (code != 0) return fault(Outcome::LaunchFailed, artifact_->prepack_symbol + " returned " + std::to_string(code));
  if (auto whole = check_guards(); !whole) return std::unexpected(whole.error());
  own_[kPacked].protect_read_only();
  return elapsed;
}

Attempt<double> KernelRun::checked_call(std::span<const float> expected, std::span<const float> terms,
                                        double tolerance) {
  own_[kOutput].poison();
  if (auto called = timed_calls(1); !called) return called;
  if (auto whole = check_guards(); !whole) return std::unexpected(whole.error());
  OutputCheck check = check_output(own_[kOutput].floats(), expected, terms, tolerance);
  if (!check.right) return fault(Outcome::WrongResult, check.detail);
  return check.max_error;
}

Attempt<double> KernelRun::timed_calls(int64_t calls) {
  int32_t code = 0;
  double begin = host_time_ns();
  for (int64_t i = 0; i < calls; ++i) code |= run_(context_, run_arguments_.data());
  double elapsed = host_time_ns() - begin;
  if (code != 0) return fault(Outcome::LaunchFailed, artifact_->run_symbol + " returned " + std::to_string(code));
  return elapsed / static_cast<double>(calls);
}

void KernelRun::change_pages() {
  for (auto& buffer : own_) (void)buffer.change_pages();
}

bool KernelRun::flush_caches() const {
#if defined(__x86_64__)
  for (const auto* buffer : buffers())
    for (size_t at = 0; at < buffer->bytes(); at += 64) _mm_clflush(buffer->data() + at);
  _mm_mfence();
  return true;
#elif defined(__aarch64__)
  uint64_t type;
  asm("mrs %0, ctr_el0" : "=r"(type));
  const size_t line = size_t{4} << (type >> 16 & 15);
  for (const auto* buffer : buffers())
    for (size_t at = 0; at < buffer->bytes(); at += line) asm volatile("dc civac, %0" : : "r"(buffer->data() + at));
  asm volatile("dsb sy" : : : "memory");
  return true;
#else
  return false;
#endif
}

}  // namespace farm
