#include "base/dtype.h"

#include "base/text.h"

namespace farm {

std::string to_string(DType dtype) {
  if (dtype == kBool) return "bool";
  const char* kind = "float";
  switch (dtype.kind) {
    case DTypeKind::Int: kind = "int"; break;
    case DTypeKind::UInt: kind = "uint"; break;
    case DTypeKind::Float: kind = "float"; break;
    case DTypeKind::BFloat: kind = "bfloat"; break;
  }
  return kind + std::to_string(dtype.bits);
}

std::optional<DType> dtype_from_string(std::string_view text) {
  if (text == "bool") return kBool;
  // "uint" before "int": the longer word first.
  constexpr std::pair<std::string_view, DTypeKind> kWords[] = {{"uint", DTypeKind::UInt},
                                                               {"int", DTypeKind::Int},
                                                               {"bfloat", DTypeKind::BFloat},
                                                               {"float", DTypeKind::Float}};
  for (auto [word, kind] : kWords) {
    if (!text.starts_with(word)) continue;
    auto bits = parse_int(text.substr(word.size()));
    if (!bits || *bits < 1 || *bits > 64) return std::nullopt;
    return DType{kind, static_cast<uint8_t>(*bits)};
  }
  return std::nullopt;
}

int64_t element_count(const Shape& shape) {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return count;
}

std::string to_string(const TensorType& type) {
  std::string text = to_string(type.dtype) + "[";
  for (size_t i = 0; i < type.shape.size(); ++i) text += (i ? "," : "") + std::to_string(type.shape[i]);
  return text + "]";
}

}  // namespace farm
