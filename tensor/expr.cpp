#include "tensor/expr.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/result.h"

namespace farm {

Var make_var(std::string name) { return std::make_shared<const VarNode>(VarNode{std::move(name)}); }

Buffer make_buffer(std::string name, DType dtype, Shape shape, Scope scope) {
  return std::make_shared<const BufferNode>(BufferNode{std::move(name), dtype, std::move(shape), scope});
}

static Expr make_expr(ExprNode node) { return std::make_shared<const ExprNode>(std::move(node)); }

Expr int_imm(int64_t value) { return make_expr({.kind = ExprKind::IntImm, .int_value = value}); }
Expr float_imm(double value, DType dtype) {
  return make_expr({.kind = ExprKind::FloatImm, .dtype = dtype, .float_value = value});
}
Expr bool_imm(bool value) { return make_expr({.kind = ExprKind::IntImm, .dtype = kBool, .int_value = value}); }
Expr var_expr(const Var& var) { return make_expr({.kind = ExprKind::Var, .var = var}); }

std::optional<int64_t> const_int(const Expr& expr) {
  if (expr->kind != ExprKind::IntImm) return std::nullopt;
  return expr->int_value;
}
bool is_const_int(const Expr& expr, int64_t value) { return const_int(expr) == value; }

static bool is_comparison(ExprKind kind) {
  return kind == ExprKind::Eq || kind == ExprKind::Ne || kind == ExprKind::Lt || kind == ExprKind::Le;
}
static bool is_logic(ExprKind kind) { return kind == ExprKind::And || kind == ExprKind::Or; }

static int64_t floor_div_int(int64_t a, int64_t b) {
  int64_t q = a / b;
  return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

static int64_t fold_ints(ExprKind kind, int64_t a, int64_t b) {
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
    default: FARM_ASSERT(false, "no integer folding for kind ", static_cast<int>(kind)); return 0;
  }
}

// x + 0, x * 1, x / 1 and their like; null when nothing applies.
static Expr drop_neutral(ExprKind kind, const Expr& a, const Expr& b) {
  auto ca = const_int(a), cb = const_int(b);
  if (is_logic(kind)) {  // the same word in every lane counts as well
    if (a->kind == ExprKind::Broadcast) ca = const_int(a->args[0]);
    if (b->kind == ExprKind::Broadcast) cb = const_int(b->args[0]);
  }
  switch (kind) {
    case ExprKind::Add:
      if (ca == 0) return b;
      if (cb == 0) return a;
      // (x + c1) + c2
      if (cb && a->kind == ExprKind::Add && const_int(a->args[1]))
        return binary(ExprKind::Add, a->args[0], int_imm(*const_int(a->args[1]) + *cb));
      break;
    case ExprKind::Sub:
      if (cb == 0) return a;
      if (cb && a->lanes == 1) return binary(ExprKind::Add, a, int_imm(-*cb));
      break;
    case ExprKind::Mul:
      if (ca == 1) return b;
      if (cb == 1) return a;
      if ((ca == 0 || cb == 0) && a->lanes == 1 && b->lanes == 1 && a->dtype.is_int()) return int_imm(0);
      if (ca && !cb) return binary(ExprKind::Mul, b, a);  // constants to the right
      break;
    case ExprKind::FloorDiv:
      if (cb == 1) return a;
      if (ca == 0) return a;
      break;
    case ExprKind::FloorMod:
      if (cb == 1 && a->lanes == 1) return int_imm(0);
      if (ca == 0) return a;
      break;
    case ExprKind::And:
      if (ca == 1) return b;
      if (cb == 1) return a;
      if (ca == 0) return a;
      if (cb == 0) return b;
      break;
    case ExprKind::Or:
      if (ca == 0) return b;
      if (cb == 0) return a;
      if (ca == 1) return a;
      if (cb == 1) return b;
      break;
    default: break;
  }
  return nullptr;
}

Expr binary(ExprKind kind, Expr a, Expr b) {
  if (a->lanes != b->lanes) {
    if (a->lanes == 1) a = broadcast(a, b->lanes);
    else b = broadcast(b, a->lanes);
  }
  FARM_ASSERT(a->lanes == b->lanes, "lanes ", a->lanes, " and ", b->lanes);
  FARM_ASSERT(a->dtype == b->dtype, "types ", to_string(a->dtype), " and ", to_string(b->dtype), " in ",
              to_string(a), " and ", to_string(b));
  DType dtype = is_comparison(kind) || is_logic(kind) ? kBool : a->dtype;
  if (a->kind == ExprKind::IntImm && b->kind == ExprKind::IntImm) {
    int64_t value = fold_ints(kind, a->int_value, b->int_value);
    return make_expr({.kind = ExprKind::IntImm, .dtype = dtype, .int_value = value});
  }
  if (Expr simpler = drop_neutral(kind, a, b)) return simpler;
  int lanes = a->lanes;
  return make_expr({.kind = kind, .dtype = dtype, .lanes = lanes, .args = {std::move(a), std::move(b)}});
}

Expr select(Expr condition, Expr if_true, Expr if_false) {
  if (auto value = const_int(condition)) return *value ? if_true : if_false;
  int lanes = std::max({condition->lanes, if_true->lanes, if_false->lanes});
  // A scalar condition may choose between vectors: only values are widened here.
  if (if_true->lanes != lanes) if_true = broadcast(if_true, lanes);
  if (if_false->lanes != lanes) if_false = broadcast(if_false, lanes);
  DType dtype = if_true->dtype;
  return make_expr({.kind = ExprKind::Select, .dtype = dtype, .lanes = lanes,
                    .args = {std::move(condition), std::move(if_true), std::move(if_false)}});
}

Expr cast(DType dtype, Expr value) {
  if (value->dtype == dtype) return value;
  int lanes = value->lanes;
  return make_expr({.kind = ExprKind::Cast, .dtype = dtype, .lanes = lanes, .args = {std::move(value)}});
}

Expr load(const Buffer& buffer, std::vector<Expr> indices) {
  int lanes = 1;
  for (const auto& index : indices) lanes = std::max(lanes, index->lanes);
  return make_expr({.kind = ExprKind::Load, .dtype = buffer->dtype, .lanes = lanes, .buffer = buffer,
                    .args = std::move(indices)});
}

Expr masked_load(const Buffer& buffer, Expr index, Expr mask) {
  int lanes = std::max(index->lanes, mask->lanes);
  return make_expr({.kind = ExprKind::Load, .dtype = buffer->dtype, .lanes = lanes, .buffer = buffer,
                    .args = {std::move(index), std::move(mask)}, .masked = true});
}

Expr call(std::string name, DType dtype, std::vector<Expr> args) {
  int lanes = 1;
  for (const auto& arg : args) lanes = std::max(lanes, arg->lanes);
  return make_expr({.kind = ExprKind::Call, .dtype = dtype, .lanes = lanes, .name = std::move(name),
                    .args = std::move(args)});
}

Expr ramp(Expr base, Expr stride, int lanes) {
  return make_expr({.kind = ExprKind::Ramp, .dtype = base->dtype, .lanes = lanes,
                    .args = {std::move(base), std::move(stride)}});
}

Expr broadcast(Expr value, int lanes) {
  FARM_ASSERT(value->lanes == 1, "broadcast of ", value->lanes, " lanes to ", lanes);
  if (lanes == 1) return value;
  DType dtype = value->dtype;
  return make_expr({.kind = ExprKind::Broadcast, .dtype = dtype, .lanes = lanes, .args = {std::move(value)}});
}

Expr logical_not(Expr value) {
  if (auto known = const_int(value)) return bool_imm(!*known);
  int lanes = value->lanes;
  return make_expr({.kind = ExprKind::Not, .dtype = kBool, .lanes = lanes, .args = {std::move(value)}});
}

// Rebuilds a node through its maker, so that folding happens again.
static Expr rebuild(const ExprNode& node, std::vector<Expr> args) {
  switch (node.kind) {
    case ExprKind::Select: return select(args[0], args[1], args[2]);
    case ExprKind::Cast: return cast(node.dtype, args[0]);
    case ExprKind::Load: return node.masked ? masked_load(node.buffer, args[0], args[1]) : load(node.buffer, std::move(args));
    case ExprKind::Call: return call(node.name, node.dtype, std::move(args));
    case ExprKind::Ramp: return ramp(args[0], args[1], node.lanes);
    case ExprKind::Broadcast: return broadcast(args[0], node.lanes);
    case ExprKind::Not: return logical_not(args[0]);
    default: return binary(node.kind, args[0], args[1]);
  }
}

Expr rewrite(const Expr& expr, const std::function<Expr(const Expr&)>& rewriter) {
  Expr current = expr;
  if (!expr->args.empty()) {
    std::vector<Expr> args;
    args.reserve(expr->args.size());
    bool changed = false;
    for (const auto& arg : expr->args) {
      args.push_back(rewrite(arg, rewriter));
      changed |= args.back() != arg;
    }
    if (changed) current = rebuild(*expr, std::move(args));
  }
  Expr replaced = rewriter(current);
  return replaced ? replaced : current;
}

Expr substitute(const Expr& expr, const VarMap& map) {
  if (map.empty()) return expr;
  return rewrite(expr, [&](const Expr& e) -> Expr {
    if (e->kind != ExprKind::Var) return nullptr;
    auto found = map.find(e->var);
    return found == map.end() ? nullptr : found->second;
  });
}

void visit(const Expr& expr, const std::function<void(const ExprNode&)>& visitor) {
  visitor(*expr);
  for (const auto& arg : expr->args) visit(arg, visitor);
}

bool uses_var(const Expr& expr, const Var& var) {
  if (expr->kind == ExprKind::Var) return expr->var == var;
  return std::any_of(expr->args.begin(), expr->args.end(), [&](const Expr& arg) { return uses_var(arg, var); });
}

bool same_expr(const Expr& a, const Expr& b) {
  if (a == b) return true;
  if (a->kind != b->kind || a->dtype != b->dtype || a->lanes != b->lanes || a->int_value != b->int_value ||
      a->float_value != b->float_value || a->var != b->var || a->buffer != b->buffer || a->name != b->name ||
      a->args.size() != b->args.size())
    return false;
  for (size_t i = 0; i < a->args.size(); ++i)
    if (!same_expr(a->args[i], b->args[i])) return false;
  return true;
}

// Printing ----------------------------------------------------------------------------------------------------------

static int precedence(ExprKind kind) {
  switch (kind) {
    case ExprKind::Or: return 1;
    case ExprKind::And: return 2;
    case ExprKind::Eq: case ExprKind::Ne: case ExprKind::Lt: case ExprKind::Le: return 3;
    case ExprKind::Add: case ExprKind::Sub: return 4;
    case ExprKind::Mul: case ExprKind::Div: case ExprKind::FloorDiv: case ExprKind::FloorMod: return 5;
    default: return 9;
  }
}

static const char* symbol(ExprKind kind) {
  switch (kind) {
    case ExprKind::Add: return " + ";
    case ExprKind::Sub: return " - ";
    case ExprKind::Mul: return "*";
    case ExprKind::Div: return " / ";
    case ExprKind::FloorDiv: return " // ";
    case ExprKind::FloorMod: return " % ";
    case ExprKind::Eq: return " == ";
    case ExprKind::Ne: return " != ";
    case ExprKind::Lt: return " < ";
    case ExprKind::Le: return " <= ";
    case ExprKind::And: return " && ";
    case ExprKind::Or: return " || ";
    default: return nullptr;
  }
}

static void print(std::string& out, const Expr& expr, int outer);

static void print_args(std::string& out, const std::vector<Expr>& args) {
  for (size_t i = 0; i < args.size(); ++i) {
    if (i) out += ", ";
    print(out, args[i], 0);
  }
}

static void print(std::string& out, const Expr& expr, int outer) {
  const ExprNode& node = *expr;
  if (const char* op = symbol(node.kind)) {
    int own = precedence(node.kind);
    bool parenthesise = own < outer;
    if (parenthesise) out += '(';
    print(out, node.args[0], own);
    out += op;
    print(out, node.args[1], own + 1);
    if (parenthesise) out += ')';
    return;
  }
  switch (node.kind) {
    case ExprKind::IntImm: out += node.dtype == kBool ? (node.int_value ? "true" : "false") : std::to_string(node.int_value); return;
    case ExprKind::FloatImm: out += fmt::format("{}f", node.float_value); return;
    case ExprKind::Var: out += node.var->name; return;
    case ExprKind::Load:
      out += node.buffer->name + "[";
      print(out, node.args[0], 0);
      for (size_t i = 1; i < node.args.size(); ++i) {
        out += node.masked ? " if " : ", ";
        print(out, node.args[i], 0);
      }
      out += "]";
      return;
    case ExprKind::Min: out += "min("; break;
    case ExprKind::Max: out += "max("; break;
    case ExprKind::Not: out += "!("; break;
    case ExprKind::Select: out += "select("; break;
    case ExprKind::Cast: out += to_string(node.dtype) + "("; break;
    case ExprKind::Ramp: out += fmt::format("ramp{}(", node.lanes); break;
    case ExprKind::Broadcast: out += fmt::format("x{}(", node.lanes); break;
    default: out += node.name + "("; break;
  }
  print_args(out, node.args);
  out += ")";
}

std::string to_string(const Expr& expr) {
  std::string out;
  print(out, expr, 0);
  return out;
}

}  // namespace farm
