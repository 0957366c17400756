// The element types and tensor shapes that all rooms share.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace farm {

enum class DTypeKind : uint8_t { Int, UInt, Float, BFloat };

/// An element type; `bits` may be below 8 (int4), so sizes are asked in bits.
struct DType {
  DTypeKind kind = DTypeKind::Float;
  uint8_t bits = 32;
  bool operator==(const DType&) const = default;
  bool is_float() const { return kind == DTypeKind::Float || kind == DTypeKind::BFloat; }
  bool is_int() const { return !is_float(); }
};

inline constexpr DType kFloat32{DTypeKind::Float, 32};
inline constexpr DType kFloat16{DTypeKind::Float, 16};
inline constexpr DType kInt8{DTypeKind::Int, 8};
inline constexpr DType kUInt8{DTypeKind::UInt, 8};
inline constexpr DType kInt32{DTypeKind::Int, 32};
inline constexpr DType kInt64{DTypeKind::Int, 64};
inline constexpr DType kBool{DTypeKind::UInt, 1};

/// "float32", "int8", "bool"; the inverse gives nothing for an unknown word.
std::string to_string(DType dtype);
std::optional<DType> dtype_from_string(std::string_view text);

using Shape = std::vector<int64_t>;

/// Product of the extents; 1 for a scalar.
int64_t element_count(const Shape& shape);

/// A dense row-major tensor.
struct TensorType {
  DType dtype;
  Shape shape;
  bool operator==(const TensorType&) const = default;
  int64_t elements() const { return element_count(shape); }
  int64_t bytes() const { return (elements() * dtype.bits + 7) / 8; }
};

/// "float32[1,64,56,56]"
std::string to_string(const TensorType& type);

}  // namespace farm
