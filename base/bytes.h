// Little-endian binary encoding for what crosses a pipe or a wire.
//
// The reader trusts nothing: a length is checked against the limit given and against the bytes that are left before
// anything is allocated. The first bad value makes it fail for good; from then on it reads zeros and empties, so a
// decoder is a plain list of reads with one check at the end.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/hash.h"
#include "base/result.h"

namespace farm {

class ByteWriter {
 public:
  void u8(uint8_t value) { number(value); }
  void u16(uint16_t value) { number(value); }
  void u32(uint32_t value) { number(value); }
  void u64(uint64_t value) { number(value); }
  void i32(int32_t value) { number(static_cast<uint32_t>(value)); }
  void i64(int64_t value) { number(static_cast<uint64_t>(value)); }
  void f32(float value) { number(std::bit_cast<uint32_t>(value)); }
  void f64(double value) { number(std::bit_cast<uint64_t>(value)); }
  void boolean(bool value) { number<uint8_t>(value); }
  void hash(const Hash& value) { raw(std::as_bytes(std::span(value.bytes))); }
  /// 32-bit length, then the bytes.
  void bytes(std::span<const std::byte> value);
  void text(std::string_view value) { bytes(std::as_bytes(std::span(value.data(), value.size()))); }
  /// Length of a list that follows.
  void count(size_t value);
  /// The bytes alone, without a length.
  void raw(std::span<const std::byte> value) { data_.insert(data_.end(), value.begin(), value.end()); }

  size_t size() const { return data_.size(); }
  std::span<const std::byte> view() const { return data_; }
  std::vector<std::byte> take() { return std::move(data_); }

 private:
  template <class Unsigned>
  void number(Unsigned value) {
    for (size_t i = 0; i < sizeof value; ++i) data_.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
  std::vector<std::byte> data_;
};

/// Borrows the bytes.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> data) : data_(data) {}

  uint8_t u8() { return number<uint8_t>(); }
  uint16_t u16() { return number<uint16_t>(); }
  uint32_t u32() { return number<uint32_t>(); }
  uint64_t u64() { return number<uint64_t>(); }
  int32_t i32() { return static_cast<int32_t>(number<uint32_t>()); }
  int64_t i64() { return static_cast<int64_t>(number<uint64_t>()); }
  float f32() { return std::bit_cast<float>(number<uint32_t>()); }
  double f64() { return std::bit_cast<double>(number<uint64_t>()); }
  /// Anything but 0 and 1 is an error.
  bool boolean();
  Hash hash();
  /// At most `limit` bytes.
  std::vector<std::byte> bytes(size_t limit);
  std::string text(size_t limit);
  /// Length of a list of at most `limit` items that take at least `least_bytes` each; 0 after an error.
  size_t count(size_t limit, size_t least_bytes);
  /// An enumeration's value, at most `last`.
  template <class Enum>
  Enum enumeration(Enum last) {
    uint8_t value = u8();
    if (value > static_cast<uint8_t>(last)) fail_here();
    return ok_ ? static_cast<Enum>(value) : Enum{};
  }
  /// `size` bytes without a length in front; empty after an error.
  std::span<const std::byte> raw(size_t size);

  bool ok() const { return ok_; }
  void fail_here() { ok_ = false; }
  size_t left() const { return data_.size() - at_; }
  /// Corrupt, naming `what`, when something was wrong or bytes are left over.
  Status finish(std::string_view what) const;

 private:
  template <class Unsigned>
  Unsigned number() {
    auto source = raw(sizeof(Unsigned));
    Unsigned value = 0;
    for (size_t i = 0; i < source.size(); ++i) value |= static_cast<Unsigned>(Unsigned(source[i]) << (8 * i));
    return value;
  }
  std::span<const std::byte> data_;
  size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace farm
