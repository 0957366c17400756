#include "schedule/passes/passes.h"
#include "schedule/tree.h"

namespace farm {

static bool mentions_reduce(const Expr& condition, const Block& block) {
  bool found = false;
  for (const auto& iter : block.iters) {
    if (iter.kind != IterKind::Reduce) continue;
    visit(iter.binding, [&](const ExprNode& node) {
      if (node.kind == ExprKind::Var) found |= uses_var(condition, node.var);
    });
  }
  return found;
}

static Stmt guard(const Block& block, Stmt body) {
  bool local = store_of(block).buffer->scope != Scope::Global;
  std::vector<Expr> droppable, needed;
  for (const auto& condition : conjuncts(block.predicate))
    (local && !mentions_reduce(condition, block) ? droppable : needed).push_back(condition);
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
