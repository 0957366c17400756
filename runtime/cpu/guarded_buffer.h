// Memory that betrays who writes beside it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"

namespace farm {

/// `bytes` bytes, 64-byte aligned, as close as that allows to the inaccessible page behind them; another such page lies
/// in front. What is left of the pages in between holds canaries. Pages are unmapped with it. Move only.
class GuardedBuffer {
 public:
  static constexpr size_t kAlignment = 64;

  /// Contents start as zeros. `name` is for messages: "output". `slot` >= 0 asks for the address that this slot has in
  /// every process: how fast a kernel is depends on where its buffers lie relative to each other (by a factor of two
  /// where they meet in a cache's index), so equal slots make equal measurements. Slots that are taken, of another size
  /// than 64-bit addresses, or -1: anywhere.
  static Result<GuardedBuffer> make(size_t bytes, std::string name, int slot = -1);
  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer&& other) noexcept;
  ~GuardedBuffer();

  std::byte* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  std::span<float> floats() const { return {reinterpret_cast<float*>(data_), bytes_ / sizeof(float)}; }
  const std::string& name() const { return name_; }

  /// All bytes 0xff: a float32 NaN, so that what was not written shows. Takes the page faults, too.
  void poison();
  /// From now on a write faults.
  void protect_read_only();
  /// The same addresses and contents in other physical memory, which decides where a buffer meets others in the caches;
  /// false, and nothing changed, where the system refuses.
  bool change_pages();
  /// "wrote 3 bytes before output"; nothing when all canaries are whole.
  std::optional<std::string> broken_canary() const;

  /// Where a faulting address lies in relation to this buffer: "8 bytes after the end of output"; nothing when it is
  /// neither in a guard page nor in the (read-only) buffer. Calls nothing that a signal handler must not call; `text`
  /// has room for kWhereBytes.
  static constexpr size_t kWhereBytes = 128;
  bool where(uintptr_t address, char* text) const;

 private:
  GuardedBuffer() = default;
  std::span<std::byte> head_canary() const;
  std::span<std::byte> tail_canary() const;

  std::byte* map_ = nullptr;
  size_t map_bytes_ = 0, page_ = 0;
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
  bool read_only_ = false;
  std::string name_;
};

}  // namespace farm
