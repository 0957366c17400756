#include "tensor/op.h"

#include <algorithm>

#include "base/text.h"

namespace farm {

bool Attributes::has_all(std::initializer_list<const char*> keys) const {
  return std::all_of(keys.begin(), keys.end(), [&](const char* key) { return has(key); });
}

const KeyValue& Attributes::value(const std::string& key) const {
  auto found = values_.find(key);
  FARM_ASSERT(found != values_.end(), "attribute ", key, " was asked for and is not there");
  return found->second;
}

Result<const Op*> find_op(std::string_view name) {
  for (const Op& op : ops())
    if (op.name == name) return &op;
  return fail(ErrorCode::InvalidArgument, "no operator is called ", printable(name), did_you_mean(name, op_names()),
              "; operators are ", join(op_names(), ", "));
}

Status check_elements(std::string_view op, std::string_view tensor, const Shape& shape) {
  double elements = 1;  // a double cannot overflow where the product of four extents can
  for (int64_t extent : shape) elements *= double(extent);
  if (elements <= double(kMaxElements)) return {};
  std::string extents;
  for (int64_t extent : shape) extents += (extents.empty() ? "" : "x") + std::to_string(extent);
  return fail(ErrorCode::InvalidArgument, op, ": ", tensor, " would be ", extents, "; a tensor may have at most ",
              kMaxElements, " elements");
}

}  // namespace farm
