#include <algorithm>

#include "schedule/passes/passes.h"

namespace farm {
namespace {

struct Guard {
  Expr condition;
  bool droppable;
};

// A statement and the conditions that hold for all of it.
struct Hoisted {
  Stmt stmt;
  std::vector<Guard> guards;
};

bool contains(const std::vector<Guard>& guards, const Expr& condition) {
  return std::any_of(guards.begin(), guards.end(), [&](const Guard& g) { return same_expr(g.condition, condition); });
}

Stmt wrap(Stmt stmt, const std::vector<Guard>& guards) {
  for (bool droppable : {true, false}) {
    std::vector<Expr> conditions;
    for (const auto& guard : guards)
      if (guard.droppable == droppable) conditions.push_back(guard.condition);
    if (!conditions.empty()) stmt = make_stmt(If{conjunction(conditions), stmt, nullptr, droppable});
  }
  return stmt;
}

Hoisted hoist(const Stmt& stmt);

Hoisted hoist_loop(const For& loop) {
  Hoisted inner = hoist(loop.body);
  std::vector<Guard> own, outer;
  for (const auto& guard : inner.guards) (uses_var(guard.condition, loop.var) ? own : outer).push_back(guard);
  For copy = loop;
  copy.body = wrap(inner.stmt, own);
  return {make_stmt(std::move(copy)), outer};
}

Hoisted hoist_seq(const Seq& seq) {
  std::vector<Hoisted> children;
  for (const auto& child : seq.stmts) children.push_back(hoist(child));
  std::vector<Guard> shared;
  for (const auto& guard : children.front().guards)
    if (std::all_of(children.begin(), children.end(), [&](const Hoisted& h) { return contains(h.guards, guard.condition); }))
      shared.push_back(guard);
  std::vector<Stmt> stmts;
  for (auto& child : children) {
    for (auto& guard : shared)  // it may go only where every child can do without it
      for (const auto& own : child.guards)
        if (same_expr(own.condition, guard.condition)) guard.droppable &= own.droppable;
    std::erase_if(child.guards, [&](const Guard& g) { return contains(shared, g.condition); });
    stmts.push_back(wrap(child.stmt, child.guards));
  }
  return {make_seq(std::move(stmts)), shared};
}

Hoisted hoist(const Stmt& stmt) {
  if (const auto* node = stmt->as<For>()) return hoist_loop(*node);
  if (const auto* node = stmt->as<Seq>()) return hoist_seq(*node);
  if (const auto* node = stmt->as<Allocate>()) {
    Hoisted inner = hoist(node->body);
    return {make_stmt(Allocate{node->buffer, inner.stmt}), inner.guards};
  }
  const auto* node = stmt->as<If>();
  if (!node || node->otherwise) return {stmt, {}};
  Hoisted inner = hoist(node->then);
  for (const auto& condition : conjuncts(node->condition))
    if (!contains(inner.guards, condition)) inner.guards.push_back({condition, node->droppable});
  return inner;
}

}  // namespace

Status hoist_guards(Module& module, int) {
  for (auto& function : module.functions) {
    Hoisted all = hoist(function.body);
    function.body = wrap(all.stmt, all.guards);
  }
  return {};
}

}  // namespace farm
