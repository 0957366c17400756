// Private to the room `tensor`: what an operator has to say about itself. The table of all of them is ops/ops.cpp.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tensor/compute.h"
#include "tensor/task.h"

namespace farm {

enum class KeyKind : uint8_t {
  Count,    ///< a whole number from 1
  Window,   ///< "3" or "3x5", height first, each from 1
  Padding,  ///< like Window, from 0
  Flag,     ///< 0 or 1
  Word,     ///< one of `words`
};

/// One key of --shape.
struct KeySpec {
  std::string name;
  KeyKind kind = KeyKind::Count;
  std::optional<std::string> fallback;  ///< canonical spelling; nothing: the key must be given
  std::vector<std::string> words;       ///< Word: what is allowed besides leaving it out
};

/// A value as read: `h` alone for counts and flags, both for windows, `word` for words ("" when left out).
struct KeyValue {
  int64_t h = 0, w = 0;
  std::string word;
};

/// Values of the keys known so far: given ones and defaults.
class Attributes {
 public:
  void set(const std::string& key, KeyValue value) { values_[key] = std::move(value); }
  bool has(const std::string& key) const { return values_.contains(key); }
  bool has_all(std::initializer_list<const char*> keys) const;
  int64_t count(const std::string& key) const { return value(key).h; }
  bool flag(const std::string& key) const { return value(key).h != 0; }
  const KeyValue& window(const std::string& key) const { return value(key); }
  const std::string& word(const std::string& key) const { return value(key).word; }

 private:
  const KeyValue& value(const std::string& key) const;
  std::map<std::string, KeyValue> values_;
};

/// One row-major array an operand, in the order of the compute's inputs.
using Inputs = std::vector<std::vector<float>>;

struct Op {
  std::string name;
  std::vector<KeySpec> keys;
  std::string default_shape;
  std::string default_title;  ///< "ResNet-18's 3x3 layer ..."

  /// Judges combinations of values; looks only at those that are there, so that a wrong pair is named before a
  /// missing key is asked for.
  Status (*check)(const Attributes&);
  /// Only called with every key there and check passed.
  Compute (*build)(const Attributes&);
  void (*reference)(const Attributes&, const Inputs&, Reference&);
};

/// Every operator, in the order in which they are listed to people.
const std::vector<Op>& ops();
/// InvalidArgument with the nearest names when there is none.
Result<const Op*> find_op(std::string_view name);

/// Largest number of elements of one tensor: indices fit into 32 bits on every device.
inline constexpr int64_t kMaxElements = (int64_t{1} << 31) - 1;
/// "conv2d: data has 4294967296 elements; ..."; an overflow of the product counts as too many.
Status check_elements(std::string_view op, std::string_view tensor, const Shape& shape);

}  // namespace farm
