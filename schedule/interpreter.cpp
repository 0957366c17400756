#include "schedule/interpreter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace farm {
namespace {

constexpr float kUndefined = std::numeric_limits<float>::quiet_NaN();

// One value of up to `lanes` elements; integers and bools in `ints`, floats in `floats`.
struct Value {
  std::vector<int64_t> ints;
  std::vector<float> floats;
  size_t lanes() const { return std::max(ints.size(), floats.size()); }
};

struct Trouble {  // stays within this file
  std::string message;
};

int64_t floor_div_int(int64_t a, int64_t b) {
  int64_t q = a / b;
  return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

int64_t apply_int(ExprKind kind, int64_t a, int64_t b) {
  switch (kind) {
    case ExprKind::Add: return a + b;
    case ExprKind::Sub: return a - b;
    case ExprKind::Mul: return a * b;
    case ExprKind::FloorDiv: return floor_div_int(a, b);
    case ExprKind::FloorMod: return a - floor_div_int(a, b) * b;
    case ExprKind::Min: return std::min(a, b);
    case ExprKind::Max: return std::max(a, b);
    case ExprKind::Eq: return a == b;
    case ExprKind::Ne: return a != b;
    case ExprKind::Lt: return a < b;
    case ExprKind::Le: return a <= b;
    case ExprKind::And: return a && b;
    case ExprKind::Or: return a || b;
    default: throw Trouble{"no integer operation of kind " + std::to_string(static_cast<int>(kind))};
  }
}

float apply_float(ExprKind kind, float a, float b) {
  switch (kind) {
    case ExprKind::Add: return a + b;
    case ExprKind::Sub: return a - b;
    case ExprKind::Mul: return a * b;
    case ExprKind::Div: return a / b;
    case ExprKind::Min: return std::min(a, b);
    case ExprKind::Max: return std::max(a, b);
    default: throw Trouble{"no float operation of kind " + std::to_string(static_cast<int>(kind))};
  }
}

float apply_call(const std::string& name, const std::vector<float>& args) {
  if (name == "exp") return std::exp(args[0]);
  if (name == "log") return std::log(args[0]);
  if (name == "sqrt") return std::sqrt(args[0]);
  if (name == "tanh") return std::tanh(args[0]);
  if (name == "abs") return std::abs(args[0]);
  throw Trouble{"unknown intrinsic " + name};
}

class Machine {
 public:
  std::unordered_map<Buffer, std::vector<float>> memory;

  void run(const Stmt& s) {
    if (const auto* node = s->as<For>()) return loop(*node);
    if (const auto* node = s->as<Seq>()) {
      for (const auto& child : node->stmts) run(child);
      return;
    }
    if (const auto* node = s->as<Store>()) return store(*node);
    if (const auto* node = s->as<If>()) {
      if (eval(node->condition).ints[0]) run(node->then);
      else if (node->otherwise) run(node->otherwise);
      return;
    }
    if (const auto* node = s->as<Allocate>()) {
      memory[node->buffer].assign(element_count(node->buffer->shape), kUndefined);
      return run(node->body);
    }
    const auto* evaluate = s->as<Evaluate>();
    if (evaluate && evaluate->call->name == "fence") return;
    throw Trouble{"a block or an unknown call is left"};
  }

 private:
  // Vectorized and unrolled loops of a resolved module run like any other.
  void loop(const For& node) {
    int64_t extent = eval(node.extent).ints[0];
    int64_t& counter = vars_[node.var.get()];
    for (int64_t i = 0; i < extent; ++i) {
      counter = i;
      run(node.body);
    }
  }

  std::vector<float>& array(const Buffer& buffer) {
    auto found = memory.find(buffer);
    if (found == memory.end()) throw Trouble{"buffer " + buffer->name + " does not exist"};
    return found->second;
  }

  static void check(const Buffer& buffer, int64_t index, size_t size) {
    if (index < 0 || index >= static_cast<int64_t>(size))
      throw Trouble{"index " + std::to_string(index) + " of " + buffer->name + " with " + std::to_string(size) + " elements"};
  }

  void store(const Store& node) {
    Value index = eval(node.indices[0]), value = eval(node.value);
    Value mask = node.mask ? eval(node.mask) : Value{};
    auto& target = array(node.buffer);
    for (size_t lane = 0; lane < index.lanes(); ++lane) {
      if (node.mask && !mask.ints[lane]) continue;
      check(node.buffer, index.ints[lane], target.size());
      target[index.ints[lane]] = value.floats[lane];
    }
  }

  Value load(const ExprNode& node) {
    Value index = eval(node.args[0]), mask;
    if (node.masked) mask = eval(node.args[1]);
    auto& source = array(node.buffer);
    Value result;
    for (int lane = 0; lane < node.lanes; ++lane) {
      if (node.masked && !mask.ints[mask.lanes() == 1 ? 0 : lane]) {
        result.floats.push_back(0);
        continue;
      }
      int64_t at = index.ints[index.lanes() == 1 ? 0 : lane];
      check(node.buffer, at, source.size());
      result.floats.push_back(source[at]);
    }
    return result;
  }

  Value eval(const Expr& e) {
    const ExprNode& node = *e;
    switch (node.kind) {
      case ExprKind::IntImm: return {{node.int_value}, {}};
      case ExprKind::FloatImm: return {{}, {static_cast<float>(node.float_value)}};
      case ExprKind::Var: return {{vars_.at(node.var.get())}, {}};
      case ExprKind::Load: return load(node);
      case ExprKind::Ramp: {
        int64_t base = eval(node.args[0]).ints[0], stride = eval(node.args[1]).ints[0];
        Value v;
        for (int lane = 0; lane < node.lanes; ++lane) v.ints.push_back(base + lane * stride);
        return v;
      }
      case ExprKind::Broadcast: {
        Value one = eval(node.args[0]), v;
        if (!one.ints.empty()) v.ints.assign(node.lanes, one.ints[0]);
        else v.floats.assign(node.lanes, one.floats[0]);
        return v;
      }
      case ExprKind::Not: {
        Value v = eval(node.args[0]);
        for (auto& i : v.ints) i = !i;
        return v;
      }
      case ExprKind::Select: return choose(node);
      case ExprKind::Call: return apply(node);
      case ExprKind::Cast: {
        Value v = eval(node.args[0]);
        if (node.dtype.is_float() && v.floats.empty()) v.floats.assign(v.ints.begin(), v.ints.end()), v.ints.clear();
        return v;
      }
      default: return arithmetic(node);
    }
  }

  Value choose(const ExprNode& node) {
    Value condition = eval(node.args[0]);
    if (condition.lanes() == 1) return eval(node.args[condition.ints[0] ? 1 : 2]);
    Value yes = eval(node.args[1]), no = eval(node.args[2]);
    for (size_t lane = 0; lane < condition.lanes(); ++lane) {
      if (condition.ints[lane]) continue;
      if (!yes.floats.empty()) yes.floats[lane] = no.floats[lane];
      else yes.ints[lane] = no.ints[lane];
    }
    return yes;
  }

  Value apply(const ExprNode& node) {
    if (node.name == "worker") return {{0}, {}};
    std::vector<Value> args;
    for (const auto& arg : node.args) args.push_back(eval(arg));
    Value result;
    for (int lane = 0; lane < node.lanes; ++lane) {
      std::vector<float> one;
      for (const auto& arg : args) one.push_back(arg.floats[arg.lanes() == 1 ? 0 : lane]);
      result.floats.push_back(apply_call(node.name, one));
    }
    return result;
  }

  Value arithmetic(const ExprNode& node) {
    Value a = eval(node.args[0]), b = eval(node.args[1]), result;
    bool floats = !a.floats.empty();
    for (int lane = 0; lane < node.lanes; ++lane) {
      if (!floats) {
        result.ints.push_back(apply_int(node.kind, a.ints[lane], b.ints[lane]));
      } else {
        result.floats.push_back(apply_float(node.kind, a.floats[lane], b.floats[lane]));
      }
    }
    return result;
  }

  std::unordered_map<const VarNode*, int64_t> vars_;
};

void enter(Machine& machine, const Function& function) {
  for (const auto* list : {&function.params, &function.workspace})
    for (const auto& buffer : *list)
      if (!machine.memory.contains(buffer)) machine.memory[buffer].assign(element_count(buffer->shape), kUndefined);
}

}  // namespace

Result<std::vector<float>> interpret(const Module& module, const std::vector<std::vector<float>>& inputs) {
  Machine machine;
  size_t next = 0;
  for (const auto* list : {&module.inputs, &module.constants})
    for (const auto& buffer : *list) {
      FARM_ASSERT(static_cast<int64_t>(inputs.at(next).size()) == element_count(buffer->shape), "operand ", buffer->name,
                  " has ", inputs.at(next).size(), " elements");
      machine.memory[buffer] = inputs[next++];
    }
  try {
    for (const Function* function : {module.prepack(), &module.run()}) {
      if (!function) continue;
      enter(machine, *function);
      machine.run(function->body);
    }
  } catch (const Trouble& trouble) {
    return fail(ErrorCode::InvalidArgument, "interpreter: ", trouble.message);
  }
  return machine.memory.at(module.output);
}

}  // namespace farm
