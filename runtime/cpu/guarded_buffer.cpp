#include "runtime/cpu/guarded_buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace farm {

static constexpr std::byte kCanary{0xa5};

/// Slots lie in ranges far below where the system places things, and each some pages further into its range than the
/// one before, so that no two start at the same place of a cache that is indexed by more than a page's bits. An x86-64
/// process has 128 TiB of addresses; one on a board may have no more than 256 GiB (39 bits, half of them its own), so
/// a large buffer there takes the next slots' ranges, whose own buffers then lie elsewhere.
static void* slot_address(int slot, size_t page) {
  if (slot < 0 || sizeof(void*) < 8) return nullptr;
#if defined(__x86_64__)
  constexpr uint64_t kFirst = uint64_t{1} << 44, kRange = uint64_t{1} << 32;
#else
  constexpr uint64_t kFirst = uint64_t{1} << 36, kRange = uint64_t{1} << 25;
#endif
  auto index = static_cast<uint64_t>(slot);
  return reinterpret_cast<void*>(kFirst + index * kRange + index % 64 * 5 * page);
}

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0
#endif

static void* map_at(void* address, size_t bytes) {
  constexpr int kProtection = PROT_READ | PROT_WRITE, kFlags = MAP_PRIVATE | MAP_ANONYMOUS;
  if (address) {
    void* map = mmap(address, bytes, kProtection, kFlags | MAP_FIXED_NOREPLACE, -1, 0);
    if (map != MAP_FAILED) return map;
  }
  return mmap(nullptr, bytes, kProtection, kFlags, -1, 0);
}

Result<GuardedBuffer> GuardedBuffer::make(size_t bytes, std::string name, int slot) {
  GuardedBuffer buffer;
  buffer.name_ = std::move(name);
  buffer.bytes_ = bytes;
  buffer.page_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  size_t inner = (bytes + kAlignment + buffer.page_ - 1) / buffer.page_ * buffer.page_;
  buffer.map_bytes_ = inner + 2 * buffer.page_;
  void* map = map_at(slot_address(slot, buffer.page_), buffer.map_bytes_);
  if (map == MAP_FAILED) return fail(ErrorCode::Unavailable, "no memory for ", buffer.name_, " of ", bytes, " bytes");
  buffer.map_ = static_cast<std::byte*>(map);
  std::byte* end = buffer.map_ + buffer.page_ + inner;
  buffer.data_ = end - (bytes + kAlignment - 1) / kAlignment * kAlignment;
  mprotect(buffer.map_, buffer.page_, PROT_NONE);
  mprotect(end, buffer.page_, PROT_NONE);
  std::ranges::fill(buffer.head_canary(), kCanary);
  std::ranges::fill(buffer.tail_canary(), kCanary);
  return buffer;
}

GuardedBuffer::GuardedBuffer(GuardedBuffer&& other) noexcept { *this = std::move(other); }
GuardedBuffer& GuardedBuffer::operator=(GuardedBuffer&& other) noexcept {
  std::swap(map_, other.map_);
  std::swap(map_bytes_, other.map_bytes_);
  std::swap(page_, other.page_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(read_only_, other.read_only_);
  std::swap(name_, other.name_);
  return *this;
}
GuardedBuffer::~GuardedBuffer() {
  if (map_) munmap(map_, map_bytes_);
}

std::span<std::byte> GuardedBuffer::head_canary() const { return {map_ + page_, data_}; }
std::span<std::byte> GuardedBuffer::tail_canary() const { return {data_ + bytes_, map_ + map_bytes_ - page_}; }

void GuardedBuffer::poison() { std::memset(data_, 0xff, bytes_); }

void GuardedBuffer::protect_read_only() { read_only_ = mprotect(map_ + page_, map_bytes_ - 2 * page_, PROT_READ) == 0; }

bool GuardedBuffer::change_pages() {
  std::byte* inner = map_ + page_;
  size_t bytes = map_bytes_ - 2 * page_;
  void* fresh = map_at(nullptr, bytes);
  if (fresh == MAP_FAILED) return false;
  std::memcpy(fresh, inner, bytes);
  if (read_only_) mprotect(fresh, bytes, PROT_READ);
  if (mremap(fresh, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, inner) != MAP_FAILED) return true;
  munmap(fresh, bytes);
  return false;
}

std::optional<std::string> GuardedBuffer::broken_canary() const {
  auto broken = [](std::byte value) { return value != kCanary; };
  if (auto count = std::ranges::count_if(head_canary(), broken))
    return "wrote " + std::to_string(count) + " bytes before the start of " + name_;
  if (auto count = std::ranges::count_if(tail_canary(), broken))
    return "wrote " + std::to_string(count) + " bytes after the end of " + name_;
  return std::nullopt;
}

static char* append(char* at, char* end, const char* text) {
  while (*text && at < end) *at++ = *text++;
  *at = 0;
  return at;
}

static char* append_number(char* at, char* end, uintptr_t number) {
  char digits[24] = {};
  char* first = digits + sizeof digits - 1;
  do *--first = static_cast<char>('0' + number % 10);
  while (number /= 10);
  return append(at, end, first);
}

bool GuardedBuffer::where(uintptr_t address, char* text) const {
  auto map = reinterpret_cast<uintptr_t>(map_), data = reinterpret_cast<uintptr_t>(data_);
  char* end = text + kWhereBytes - 1;
  if (address >= map && address < map + page_) {
    text = append(append_number(text, end, data - address), end, " bytes before the start of ");
  } else if (address >= map + map_bytes_ - page_ && address < map + map_bytes_) {
    text = append(append_number(text, end, address - data - bytes_), end, " bytes after the end of ");
  } else if (read_only_ && address >= map && address < map + map_bytes_) {
    text = append(text, end, "inside the read-only ");
  } else {
    return false;
  }
  append(text, end, name_.c_str());
  return true;
}

}  // namespace farm
