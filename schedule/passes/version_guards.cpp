#include "schedule/passes/passes.h"
#include "schedule/tree.h"

namespace farm {
namespace {

bool expands(const Stmt& stmt) {
  const auto* loop = stmt->as<For>();
  return loop && (loop->kind == LoopKind::Unrolled || loop->kind == LoopKind::Vectorized);
}

// `condition` (a < or <=) at its hardest over the inner variables; null when that cannot be said.
Expr hardest(const Expr& condition, const VarBounds& outer, const VarBounds& inner) {
  if (condition->kind != ExprKind::Lt && condition->kind != ExprKind::Le) return nullptr;
  auto split = split_range(condition->args[0] - condition->args[1], outer, inner);
  if (!split) return nullptr;
  return binary(condition->kind, to_expr(split->base) + split->offset.hi, int_imm(0));
}

struct Guards {
  std::vector<Expr> conditions;  // those that can be decided outside
  std::vector<Expr> decided;     // how
};

void collect(const Stmt& stmt, const VarBounds& outer, VarBounds inner, Guards& guards) {
  if (const auto* node = stmt->as<For>()) {
    inner[node->var] = loop_range(*node);
    collect(node->body, outer, std::move(inner), guards);
  } else if (const auto* node = stmt->as<Seq>()) {
    for (const auto& child : node->stmts) collect(child, outer, inner, guards);
  } else if (const auto* node = stmt->as<Allocate>()) {
    collect(node->body, outer, std::move(inner), guards);
  } else if (const auto* node = stmt->as<If>()) {
    for (const auto& condition : conjuncts(node->condition))
      if (Expr outside = hardest(condition, outer, inner)) {
        guards.conditions.push_back(condition);
        guards.decided.push_back(outside);
      }
    collect(node->then, outer, inner, guards);
  }
}

Stmt version(const Stmt& stmt, VarBounds bounds) {
  if (expands(stmt)) {
    Guards guards;
    collect(stmt, bounds, {}, guards);
    if (guards.conditions.empty()) return stmt;
    Expr all = simplify(conjunction(guards.decided), bounds);
    return make_stmt(If{all, without_conditions(stmt, guards.conditions), stmt, false});
  }
  if (const auto* node = stmt->as<For>()) {
    bounds[node->var] = loop_range(*node);
    For copy = *node;
    copy.body = version(node->body, std::move(bounds));
    return make_stmt(std::move(copy));
  }
  if (const auto* node = stmt->as<Seq>()) {
    std::vector<Stmt> stmts;
    for (const auto& child : node->stmts) stmts.push_back(version(child, bounds));
    return make_seq(std::move(stmts));
  }
  if (const auto* node = stmt->as<Allocate>()) return make_stmt(Allocate{node->buffer, version(node->body, std::move(bounds))});
  if (const auto* node = stmt->as<If>()) {
    If copy = *node;
    copy.then = version(node->then, bounds);
    if (copy.otherwise) copy.otherwise = version(node->otherwise, bounds);
    return make_stmt(std::move(copy));
  }
  return stmt;
}

}  // namespace

Status version_guards(Module& module, int) {
  for (auto& function : module.functions) function.body = version(function.body, {});
  return {};
}

}  // namespace farm
