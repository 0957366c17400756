#include "tensor/task.h"

#include <algorithm>

#include "base/text.h"
#include "tensor/op.h"

namespace farm {

// Reading one value ------------------------------------------------------------------------------------------------

static constexpr int64_t kMaxValue = 1 << 24;  // of a key: far beyond any layer, far from overflow

static std::string_view allowed(const KeySpec& key) {
  switch (key.kind) {
    case KeyKind::Count:
      return "a whole number from 1 to 16777216";
    case KeyKind::Window:
      return "a whole number from 1 to 16777216, or two such as 3x5, height first";
    case KeyKind::Padding:
      return "a whole number from 0 to 16777216, or two such as 1x2, height first";
    case KeyKind::Flag:
      return "0 or 1";
    case KeyKind::Word:
      break;
  }
  return "";
}

static std::optional<int64_t> parse_between(std::string_view text, int64_t least, int64_t most) {
  auto value = parse_int(text);
  return value && *value >= least && *value <= most ? value : std::nullopt;
}

static std::optional<KeyValue> parse_window(std::string_view text, int64_t least) {
  size_t cross = text.find('x');
  auto h = parse_between(text.substr(0, cross), least, kMaxValue);
  auto w = cross == std::string_view::npos ? h : parse_between(text.substr(cross + 1), least, kMaxValue);
  if (!h || !w) return std::nullopt;
  return KeyValue{*h, *w, ""};
}

static std::optional<KeyValue> parse_single(std::string_view text, int64_t least, int64_t most) {
  auto value = parse_between(text, least, most);
  if (!value) return std::nullopt;
  return KeyValue{*value, *value, ""};
}

static std::optional<KeyValue> parse_word(std::string_view text, const KeySpec& key) {
  bool known = text.empty() || std::find(key.words.begin(), key.words.end(), text) != key.words.end();
  if (!known) return std::nullopt;
  return KeyValue{0, 0, std::string(text)};
}

static std::optional<KeyValue> parse_value(std::string_view text, const KeySpec& key) {
  switch (key.kind) {
    case KeyKind::Count:
      return parse_single(text, 1, kMaxValue);
    case KeyKind::Window:
      return parse_window(text, 1);
    case KeyKind::Padding:
      return parse_window(text, 0);
    case KeyKind::Flag:
      return parse_single(text, 0, 1);
    case KeyKind::Word:
      return parse_word(text, key);
  }
  return std::nullopt;
}

/// Canonical: a window with equal sides is one number.
static std::string spelling(const KeyValue& value, const KeySpec& key) {
  if (key.kind == KeyKind::Word) return value.word;
  if (value.h == value.w) return std::to_string(value.h);
  return std::to_string(value.h) + "x" + std::to_string(value.w);
}

// Reading a shape --------------------------------------------------------------------------------------------------

using Pairs = std::vector<std::pair<std::string, std::string>>;

static const KeySpec* find_key(const Op& op, std::string_view name) {
  for (const KeySpec& key : op.keys)
    if (key.name == name) return &key;
  return nullptr;
}

static std::vector<std::string> key_names(const Op& op) {
  std::vector<std::string> names;
  for (const KeySpec& key : op.keys) names.push_back(key.name);
  return names;
}

static Result<Pairs> split_pairs(const Op& op, std::string_view shape) {
  Pairs pairs;
  for (const std::string& piece : split(trim(shape), ',')) {
    size_t equals = piece.find('=');
    if (equals == std::string::npos)
      return fail(ErrorCode::InvalidArgument, op.name, ": \"", printable(piece),
                  "\" in the shape is not of the form key=value");
    pairs.emplace_back(trim(std::string_view(piece).substr(0, equals)),
                       trim(std::string_view(piece).substr(equals + 1)));
  }
  return pairs;
}

static Result<KeyValue> read_value(const Op& op, const KeySpec& key, const std::string& text) {
  if (auto value = parse_value(text, key)) return *std::move(value);
  std::string expected = key.kind == KeyKind::Word ? join(key.words, " or ") : std::string(allowed(key));
  return fail(ErrorCode::InvalidArgument, op.name, ": ", key.name, " is \"", printable(text), "\"; it must be ",
              expected);
}

static Status read_pair(const Op& op, const std::string& name, const std::string& text, Attributes& attributes) {
  const KeySpec* key = find_key(op, name);
  if (!key)
    return fail(ErrorCode::InvalidArgument, op.name, ": no key is called ", printable(name),
                did_you_mean(name, key_names(op)), "; keys are ", join(key_names(op), ", "));
  if (attributes.has(name)) return fail(ErrorCode::InvalidArgument, op.name, ": ", name, " is given twice");
  FARM_TRY(KeyValue value, read_value(op, *key, text));
  attributes.set(name, std::move(value));
  return {};
}

static void add_defaults(const Op& op, Attributes& attributes) {
  for (const KeySpec& key : op.keys)
    if (key.fallback && !attributes.has(key.name)) attributes.set(key.name, *parse_value(*key.fallback, key));
}

static Status ask_for_missing(const Op& op, const Attributes& attributes) {
  std::vector<std::string> missing;
  for (const KeySpec& key : op.keys)
    if (!attributes.has(key.name)) missing.push_back(key.name);
  if (missing.empty()) return {};
  return fail(ErrorCode::InvalidArgument, op.name, ": the shape has no ", join(missing, ", "), "; a whole one is ",
              op.default_shape);
}

static Result<Attributes> read_attributes(const Op& op, const Pairs& pairs) {
  Attributes attributes;
  for (const auto& [name, text] : pairs) FARM_CHECK(read_pair(op, name, text, attributes));
  add_defaults(op, attributes);
  FARM_CHECK(op.check(attributes));
  FARM_CHECK(ask_for_missing(op, attributes));
  return attributes;
}

static Pairs canonical(const Op& op, const Attributes& attributes) {
  Pairs pairs;
  for (const KeySpec& key : op.keys) {
    const KeyValue& value = attributes.window(key.name);
    std::string text = spelling(value, key);
    if (text != key.fallback) pairs.emplace_back(key.name, text);
  }
  return pairs;
}

// The door ---------------------------------------------------------------------------------------------------------

std::string Task::text() const {
  std::vector<std::string> pieces;
  for (const auto& [key, value] : attributes) pieces.push_back(key + "=" + value);
  return op + "(" + join(pieces, ",") + ")";
}

Result<Task> make_task(std::string_view op_name, std::string_view shape) {
  FARM_TRY(const Op* op, find_op(op_name));
  FARM_TRY(Pairs pairs, split_pairs(*op, shape));
  FARM_TRY(Attributes attributes, read_attributes(*op, pairs));
  return Task{op->name, canonical(*op, attributes)};
}

Result<Task> task_from_text(std::string_view text) {
  text = trim(text);
  size_t open = text.find('(');
  if (open == std::string_view::npos || text.back() != ')')
    return fail(ErrorCode::InvalidArgument, "\"", printable(text),
                "\" is no task; one reads like matmul(m=64,n=64,k=64)");
  return make_task(text.substr(0, open), text.substr(open + 1, text.size() - open - 2));
}

Result<Task> default_task(std::string_view op_name) {
  FARM_TRY(const Op* op, find_op(op_name));
  return make_task(op->name, op->default_shape);
}

Result<std::string> default_title(std::string_view op_name) {
  FARM_TRY(const Op* op, find_op(op_name));
  return op->default_title;
}

Result<Compute> make_compute(const Task& task) {
  FARM_TRY(const Op* op, find_op(task.op));
  FARM_TRY(Attributes attributes, read_attributes(*op, task.attributes));
  return op->build(attributes);
}

static Status check_inputs(const Task& task, const Compute& compute, const Inputs& inputs) {
  if (inputs.size() != compute.inputs.size())
    return fail(ErrorCode::InvalidArgument, task.text(), ": ", inputs.size(), " inputs where ", compute.inputs.size(),
                " are needed");
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Buffer& buffer = compute.inputs[i].buffer;
    if (inputs[i].size() != size_t(element_count(buffer->shape)))
      return fail(ErrorCode::InvalidArgument, task.text(), ": input ", buffer->name, " has ", inputs[i].size(),
                  " elements; it must have ", element_count(buffer->shape));
  }
  return {};
}

Result<Reference> reference(const Task& task, const Inputs& inputs) {
  FARM_TRY(const Op* op, find_op(task.op));
  FARM_TRY(Attributes attributes, read_attributes(*op, task.attributes));
  Compute compute = op->build(attributes);
  FARM_CHECK(check_inputs(task, compute, inputs));
  size_t elements = size_t(element_count(compute.output()->shape));
  Reference result{std::vector<float>(elements), std::vector<float>(elements)};
  op->reference(attributes, inputs, result);
  return result;
}

std::vector<std::string> op_names() {
  std::vector<std::string> names;
  for (const Op& op : ops()) names.push_back(op.name);
  return names;
}

std::vector<std::string> shape_keys(std::string_view op_name) {
  auto op = find_op(op_name);
  return op ? key_names(**op) : std::vector<std::string>{};
}

static TaskTensor tensor_of(const Buffer& buffer, bool constant) {
  return {buffer->name, {buffer->dtype, buffer->shape}, constant};
}

Result<TaskSignature> signature(const Task& task) {
  FARM_TRY(Compute compute, make_compute(task));
  TaskSignature result;
  for (const Operand& input : compute.inputs) result.inputs.push_back(tensor_of(input.buffer, input.constant));
  result.output = tensor_of(compute.output(), false);
  result.flops = compute.flops;
  return result;
}

}  // namespace farm
