#include "schedule/arith.h"
#include "schedule/passes/passes.h"
#include "schedule/tree.h"

namespace farm {

static bool equal_forms(LinearForm a, const LinearForm& b) {
  a.add(b, -1);
  return a.terms.empty() && a.constant == 0;
}

// Whether the condition says no more than that a spatial axis stays in its domain. Where it fails, the block would write
// elements of its own that nothing reads. A guard of an inner split says more: where it fails, an element of another
// iteration would be computed twice.
static bool keeps_axis_in_domain(const Expr& condition, const Block& block) {
  if (condition->kind != ExprKind::Lt && condition->kind != ExprKind::Le) return false;
  LinearForm difference = linear_form(condition->args[0] - condition->args[1], {});
  if (condition->kind == ExprKind::Le) difference.constant -= 1;  // a <= b is a < b + 1
  for (const auto& iter : block.iters) {
    if (iter.kind != IterKind::Spatial) continue;
    LinearForm below = linear_form(iter.binding, {}), above;
    above.add(below, -1);
    below.constant -= iter.extent;
    above.constant -= 1;
    if (equal_forms(difference, below) || equal_forms(difference, above)) return true;
  }
  return false;
}

static Stmt guard(const Block& block, Stmt body) {
  bool local = store_of(block).buffer->scope != Scope::Global;
  std::vector<Expr> droppable, needed;
  for (const auto& condition : conjuncts(block.predicate))
    (local && keeps_axis_in_domain(condition, block) ? droppable : needed).push_back(condition);
  if (Expr all = conjunction(droppable)) body = make_stmt(If{all, body, nullptr, true});
  if (Expr all = conjunction(needed)) body = make_stmt(If{all, body, nullptr, false});
  return body;
}

static Stmt resolve(const Block& block) {
  VarMap bindings = bindings_of(block);
  auto put_in_place = [&](const Stmt& stmt) {
    return rewrite_exprs(stmt, [&](const Expr& e) -> Expr {
      if (e->kind != ExprKind::Var) return nullptr;
      auto found = bindings.find(e->var);
      return found == bindings.end() ? nullptr : found->second;
    });
  };
  Stmt body = put_in_place(block.body);
  if (block.init) {
    std::vector<Expr> first;
    for (const auto& iter : block.iters)
      if (iter.kind == IterKind::Reduce) first.push_back(equal(iter.binding, int_imm(0)));
    Stmt init = put_in_place(block.init);
    if (Expr at_start = conjunction(first)) init = make_stmt(If{at_start, init, nullptr, false});
    body = make_seq({init, body});
  }
  return guard(block, body);
}

Status resolve_blocks(Module& module, int) {
  for (auto& function : module.functions)
    function.body = rewrite_stmt(function.body, [](const Stmt& s) -> Stmt {
      const auto* block = s->as<Block>();
      return block ? resolve(*block) : nullptr;
    });
  return {};
}

}  // namespace farm
