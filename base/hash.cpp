#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <charconv>
#include <cstring>

namespace farm {

Hash hash_bytes(std::span<const std::byte> bytes) {
  XXH128_canonical_t canonical;  // big-endian, so that the text is equal on every host
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  Hash hash;
  std::memcpy(hash.bytes.data(), canonical.digest, hash.bytes.size());
  return hash;
}

Hash hash_text(std::string_view text) { return hash_bytes(std::as_bytes(std::span(text.data(), text.size()))); }

std::string to_string(const Hash& hash) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (uint8_t byte : hash.bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::optional<Hash> hash_from_string(std::string_view text) {
  Hash hash;
  if (text.size() != 2 * hash.bytes.size()) return std::nullopt;
  for (size_t i = 0; i < hash.bytes.size(); ++i) {
    const char* begin = text.data() + 2 * i;
    auto [end, error] = std::from_chars(begin, begin + 2, hash.bytes[i], 16);
    if (error != std::errc{} || end != begin + 2) return std::nullopt;
  }
  return hash;
}

}  // namespace farm

size_t std::hash<farm::Hash>::operator()(const farm::Hash& hash) const noexcept {
  size_t value;
  std::memcpy(&value, hash.bytes.data(), sizeof value);
  return value;
}
