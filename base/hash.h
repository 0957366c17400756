// Content hashes: the identity of tasks, candidates, programs, artifacts and tensors.
#pragma once
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace farm {

/// 128 bits of XXH3: the same on every host. It finds equal content; it is no defence against forgery.
struct Hash {
  std::array<uint8_t, 16> bytes{};
  auto operator<=>(const Hash&) const = default;
};

Hash hash_bytes(std::span<const std::byte> bytes);
Hash hash_text(std::string_view text);

/// 32 lower-case hex digits, and back.
std::string to_string(const Hash& hash);
std::optional<Hash> hash_from_string(std::string_view text);

}  // namespace farm

template <>
struct std::hash<farm::Hash> {
  size_t operator()(const farm::Hash& hash) const noexcept;
};
