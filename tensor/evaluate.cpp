// The slow and true evaluator: each stage's body is turned into a small tree over numbered variables and walked once a
// point. Values are double, indices int64; nothing is rounded to the stage's own element type.
#include <cmath>
#include <span>

#include "base/result.h"
#include "tensor/compute.h"

namespace farm {
namespace {

/// Either side is used, by the type of the node.
struct Value {
  double real = 0;
  int64_t whole = 0;
};

using Arrays = std::unordered_map<Buffer, std::vector<double>>;
using Slots = std::unordered_map<Var, size_t>;

struct Node {
  const ExprNode* expr;
  bool real;                      ///< this node gives a double
  size_t slot = 0;                ///< Var
  const double* array = nullptr;  ///< Load
  std::vector<Node> args;
};

Node prepare(const Expr& expr, const Slots& slots, const Arrays& arrays) {
  Node node{expr.get(), expr->dtype.is_float(), 0, nullptr, {}};
  if (expr->kind == ExprKind::Var) {
    auto slot = slots.find(expr->var);
    FARM_ASSERT(slot != slots.end(), "variable ", expr->var->name, " is bound by no axis");
    node.slot = slot->second;
  }
  if (expr->kind == ExprKind::Load) {
    auto array = arrays.find(expr->buffer);
    FARM_ASSERT(array != arrays.end(), "buffer ", expr->buffer->name, " is read before it is written");
    node.array = array->second.data();
  }
  for (const Expr& arg : expr->args) node.args.push_back(prepare(arg, slots, arrays));
  return node;
}

int64_t floor_div_of(int64_t a, int64_t b) {
  FARM_ASSERT(b != 0, "division of ", a, " by zero");
  return a / b - ((a % b != 0) && ((a < 0) != (b < 0)));
}

double real_function(const std::string& name, double x) {
  if (name == "exp") return std::exp(x);
  if (name == "sqrt") return std::sqrt(x);
  if (name == "tanh") return std::tanh(x);
  if (name == "log") return std::log(x);
  if (name == "erf") return std::erf(x);
  if (name == "fabs") return std::fabs(x);
  FARM_ASSERT(false, "function ", name, " is unknown to the evaluator");
  return 0;
}

class Evaluator {
 public:
  explicit Evaluator(std::vector<int64_t>& variables) : variables_(variables) {}

  Value operator()(const Node& node) const {
    switch (node.expr->kind) {
      case ExprKind::IntImm:
        return {double(node.expr->int_value), node.expr->int_value};
      case ExprKind::FloatImm:
        return {node.expr->float_value, 0};
      case ExprKind::Var:
        return {0, variables_[node.slot]};
      case ExprKind::Select:
        return truth(node.args[0]) ? (*this)(node.args[1]) : (*this)(node.args[2]);
      case ExprKind::And:
        return whole(truth(node.args[0]) && truth(node.args[1]));
      case ExprKind::Or:
        return whole(truth(node.args[0]) || truth(node.args[1]));
      case ExprKind::Not:
        return whole(!truth(node.args[0]));
      case ExprKind::Load:
        return load_value(node);
      case ExprKind::Cast:
        return cast_value(node);
      case ExprKind::Call:
        return {real_function(node.expr->name, (*this)(node.args[0]).real), 0};
      case ExprKind::Ramp:
      case ExprKind::Broadcast:
        FARM_ASSERT(false, "a compute holds no vectors, got ", node.expr->lanes, " lanes");
        return {};
      default:
        return binary_value(node);
    }
  }

 private:
  static Value whole(int64_t value) { return {0, value}; }
  bool truth(const Node& node) const { return (*this)(node).whole != 0; }

  Value binary_value(const Node& node) const {
    Value a = (*this)(node.args[0]), b = (*this)(node.args[1]);
    return node.args[0].real ? real_binary(node, a.real, b.real) : whole_binary(node, a.whole, b.whole);
  }

  static Value real_binary(const Node& node, double a, double b) {
    switch (node.expr->kind) {
      case ExprKind::Add:
        return {a + b, 0};
      case ExprKind::Sub:
        return {a - b, 0};
      case ExprKind::Mul:
        return {a * b, 0};
      case ExprKind::Div:
        return {a / b, 0};
      case ExprKind::Min:
        return {std::fmin(a, b), 0};
      case ExprKind::Max:
        return {std::fmax(a, b), 0};
      case ExprKind::Eq:
        return whole(a == b);
      case ExprKind::Ne:
        return whole(a != b);
      case ExprKind::Lt:
        return whole(a < b);
      case ExprKind::Le:
        return whole(a <= b);
      default:
        FARM_ASSERT(false, "operation ", int(node.expr->kind), " is not for floats");
        return {};
    }
  }

  static Value whole_binary(const Node& node, int64_t a, int64_t b) {
    switch (node.expr->kind) {
      case ExprKind::Add:
        return whole(a + b);
      case ExprKind::Sub:
        return whole(a - b);
      case ExprKind::Mul:
        return whole(a * b);
      case ExprKind::FloorDiv:
        return whole(floor_div_of(a, b));
      case ExprKind::FloorMod:
        return whole(a - floor_div_of(a, b) * b);
      case ExprKind::Min:
        return whole(std::min(a, b));
      case ExprKind::Max:
        return whole(std::max(a, b));
      case ExprKind::Eq:
        return whole(a == b);
      case ExprKind::Ne:
        return whole(a != b);
      case ExprKind::Lt:
        return whole(a < b);
      case ExprKind::Le:
        return whole(a <= b);
      default:
        FARM_ASSERT(false, "operation ", int(node.expr->kind), " is not for integers");
        return {};
    }
  }

  Value load_value(const Node& node) const {
    const Shape& shape = node.expr->buffer->shape;
    FARM_ASSERT(shape.size() == node.args.size(), "buffer ", node.expr->buffer->name, " has ", shape.size(),
                " dimensions, read with ", node.args.size());
    int64_t flat = 0;
    for (size_t d = 0; d < shape.size(); ++d) {
      int64_t index = (*this)(node.args[d]).whole;
      FARM_ASSERT(index >= 0 && index < shape[d], "read of ", node.expr->buffer->name, " at ", index, " in dimension ",
                  d, " of extent ", shape[d]);
      flat = flat * shape[d] + index;
    }
    double value = node.array[flat];
    return {value, node.real ? 0 : int64_t(value)};
  }

  Value cast_value(const Node& node) const {
    Value value = (*this)(node.args[0]);
    if (node.real) return {node.args[0].real ? value.real : double(value.whole), 0};
    return whole(node.args[0].real ? int64_t(value.real) : value.whole);
  }

  std::vector<int64_t>& variables_;
};

/// Calls `body` for each point of `axes`, last axis fastest, with their values in variables[first ...].
template <class Body>
void for_each_point(std::span<const Axis> axes, int64_t* variables, const Body& body) {
  if (axes.empty()) return body();
  for (variables[0] = 0; variables[0] < axes[0].extent; ++variables[0])
    for_each_point(axes.subspan(1), variables + 1, body);
}

std::vector<double> evaluate_stage(const Stage& stage, const Arrays& arrays) {
  Slots slots;
  for (const Axis& axis : stage.axes) slots.emplace(axis.var, slots.size());
  for (const Axis& axis : stage.reduce) slots.emplace(axis.var, slots.size());
  std::vector<int64_t> variables(slots.size());
  Node body = prepare(stage.body, slots, arrays);
  Evaluator value_of(variables);
  auto number = [&] {
    Value value = value_of(body);
    return body.real ? value.real : double(value.whole);
  };

  std::vector<double> output;
  output.reserve(size_t(element_count(stage.output->shape)));
  for_each_point(std::span(stage.axes), variables.data(), [&] {
    double sum = 0;
    for_each_point(std::span(stage.reduce), variables.data() + stage.axes.size(), [&] { sum += number(); });
    output.push_back(sum);
  });
  FARM_ASSERT(int64_t(output.size()) == element_count(stage.output->shape), "stage ", stage.output->name, " gives ",
              output.size(), " elements");
  return output;
}

}  // namespace

std::vector<double> evaluate(const Compute& compute, const std::vector<std::vector<float>>& inputs) {
  FARM_ASSERT(inputs.size() == compute.inputs.size(), inputs.size(), " inputs where ", compute.inputs.size(),
              " are needed");
  Arrays arrays;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Buffer& buffer = compute.inputs[i].buffer;
    FARM_ASSERT(int64_t(inputs[i].size()) == element_count(buffer->shape), "input ", buffer->name, " has ",
                inputs[i].size(), " elements");
    arrays.emplace(buffer, std::vector<double>(inputs[i].begin(), inputs[i].end()));
  }
  for (const Stage& stage : compute.stages) arrays.emplace(stage.output, evaluate_stage(stage, arrays));
  return arrays.at(compute.output());
}

}  // namespace farm
