#include <algorithm>

#include "schedule/passes/passes.h"
#include "schedule/tree.h"

namespace farm {
namespace {

constexpr int64_t kMostStores = 256;  // unrolled stores of a body that is worth a second copy

int64_t unrolled_stores(const Stmt& stmt) {
  if (const auto* node = stmt->as<For>()) {
    int64_t inner = unrolled_stores(node->body);
    return node->kind == LoopKind::Unrolled ? inner * loop_range(*node).extent() : inner;
  }
  if (const auto* node = stmt->as<Seq>()) {
    int64_t sum = 0;
    for (const auto& child : node->stmts) sum += unrolled_stores(child);
    return sum;
  }
  if (const auto* node = stmt->as<If>()) return unrolled_stores(node->then);
  if (const auto* node = stmt->as<Allocate>()) return unrolled_stores(node->body);
  return stmt->as<Store>() ? 1 : 0;
}

// Whether `condition` holds whenever `loop` is not in its last iteration, yet not always; and whether unrolled loops
// inside take part, so that a copy for the last iteration has less to do.
bool fails_only_at_the_end(const Expr& condition, const For& loop, const VarBounds& outer, const VarBounds& inner, bool unrolled) {
  if (!unrolled || !uses_var(condition, loop.var)) return false;
  VarBounds before = outer;
  before.insert(inner.begin(), inner.end());
  VarBounds all = before;
  Interval range = loop_range(loop);
  all[loop.var] = range;
  before[loop.var] = {0, range.hi - 1};
  return is_const_int(simplify(condition, before), 1) && !is_const_int(simplify(condition, all), 1);
}

void collect(const Stmt& stmt, const For& loop, const VarBounds& outer, VarBounds inner, std::vector<Var> unrolled, std::vector<Expr>& found) {
  if (const auto* node = stmt->as<For>()) {
    inner[node->var] = loop_range(*node);
    if (node->kind == LoopKind::Unrolled) unrolled.push_back(node->var);
    collect(node->body, loop, outer, std::move(inner), std::move(unrolled), found);
  } else if (const auto* node = stmt->as<Seq>()) {
    for (const auto& child : node->stmts) collect(child, loop, outer, inner, unrolled, found);
  } else if (const auto* node = stmt->as<Allocate>()) {
    collect(node->body, loop, outer, std::move(inner), std::move(unrolled), found);
  } else if (const auto* node = stmt->as<If>()) {
    for (const auto& condition : conjuncts(node->condition)) {
      bool expands = std::any_of(unrolled.begin(), unrolled.end(), [&](const Var& v) { return uses_var(condition, v); });
      if (fails_only_at_the_end(condition, loop, outer, inner, expands)) found.push_back(condition);
    }
    collect(node->then, loop, outer, std::move(inner), std::move(unrolled), found);
  }
}

Stmt at(const Stmt& body, const Var& var, int64_t value) {
  return rewrite_exprs(body, [&](const Expr& e) -> Expr {
    return e->kind == ExprKind::Var && e->var == var ? int_imm(value) : nullptr;
  });
}

Stmt peel(const Stmt& stmt, VarBounds outer) {
  if (const auto* node = stmt->as<Seq>()) {
    std::vector<Stmt> stmts;
    for (const auto& child : node->stmts) stmts.push_back(peel(child, outer));
    return make_seq(std::move(stmts));
  }
  if (const auto* node = stmt->as<Allocate>()) return make_stmt(Allocate{node->buffer, peel(node->body, std::move(outer))});
  if (const auto* node = stmt->as<If>()) {
    If copy = *node;
    copy.then = peel(node->then, outer);
    return make_stmt(std::move(copy));
  }
  const auto* node = stmt->as<For>();
  if (!node) return stmt;
  VarBounds inside = outer;
  inside[node->var] = loop_range(*node);
  For loop = *node;
  loop.body = peel(node->body, inside);
  if (loop.kind != LoopKind::Serial || loop_range(loop).hi < 1 || unrolled_stores(loop.body) > kMostStores)
    return make_stmt(std::move(loop));
  std::vector<Expr> conditions;
  collect(loop.body, loop, outer, {}, {}, conditions);
  if (conditions.empty()) return make_stmt(std::move(loop));
  int64_t last = loop_range(loop).hi;
  Stmt tail = at(loop.body, loop.var, last);
  loop.extent = int_imm(last);
  loop.body = without_conditions(loop.body, conditions);
  return make_seq({make_stmt(std::move(loop)), tail});
}

}  // namespace

Status peel_tails(Module& module, int) {
  for (auto& function : module.functions) function.body = simplify_stmt(peel(function.body, {}), {});
  return {};
}

}  // namespace farm
