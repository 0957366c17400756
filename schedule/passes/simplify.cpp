#include "schedule/passes/passes.h"
#include "schedule/tree.h"

namespace farm {

static Stmt simplify_loop(const For& loop, VarBounds bounds) {
  if (is_const_int(loop.extent, 1)) {
    VarMap zero{{loop.var, int_imm(0)}};
    Stmt body = rewrite_exprs(loop.body, [&](const Expr& e) -> Expr {
      return e->kind == ExprKind::Var && e->var == loop.var ? int_imm(0) : nullptr;
    });
    return simplify_stmt(body, std::move(bounds));
  }
  bounds[loop.var] = loop_range(loop);
  For copy = loop;
  copy.body = simplify_stmt(loop.body, std::move(bounds));
  return copy.body ? make_stmt(std::move(copy)) : nullptr;
}

static Stmt simplify_if(const If& node, const VarBounds& bounds) {
  std::vector<Expr> open;
  for (const auto& condition : conjuncts(node.condition)) {
    Expr shorter = simplify(condition, bounds);
    if (is_const_int(shorter, 0)) return node.otherwise ? simplify_stmt(node.otherwise, bounds) : nullptr;
    if (!is_const_int(shorter, 1)) open.push_back(shorter);
  }
  Stmt then = simplify_stmt(node.then, bounds);
  if (open.empty()) return then;
  Stmt otherwise = node.otherwise ? simplify_stmt(node.otherwise, bounds) : nullptr;
  if (!then && !otherwise) return nullptr;
  if (!then) return make_stmt(If{logical_not(conjunction(open)), otherwise, nullptr, false});
  return make_stmt(If{conjunction(open), then, otherwise, node.droppable});
}

Stmt simplify_stmt(const Stmt& stmt, VarBounds bounds) {
  if (const auto* node = stmt->as<For>()) return simplify_loop(*node, std::move(bounds));
  if (const auto* node = stmt->as<If>()) return simplify_if(*node, bounds);
  if (const auto* node = stmt->as<Seq>()) {
    std::vector<Stmt> stmts;
    for (const auto& child : node->stmts) stmts.push_back(simplify_stmt(child, bounds));
    std::erase(stmts, nullptr);
    return stmts.empty() ? nullptr : make_seq(std::move(stmts));
  }
  if (const auto* node = stmt->as<Allocate>()) {
    Stmt body = simplify_stmt(node->body, std::move(bounds));
    return body ? make_stmt(Allocate{node->buffer, body}) : nullptr;
  }
  if (const auto* node = stmt->as<Store>()) {
    Store copy = *node;
    for (auto& index : copy.indices) index = simplify(index, bounds);
    copy.value = simplify(copy.value, bounds);
    if (copy.mask) {
      copy.mask = simplify(copy.mask, bounds);
      if (is_splat(copy.mask, 1)) copy.mask = nullptr;
      else if (is_splat(copy.mask, 0)) return nullptr;
    }
    return make_stmt(std::move(copy));
  }
  return stmt;
}

Status simplify_module(Module& module, int) {
  for (auto& function : module.functions) {
    function.body = simplify_stmt(function.body, {});
    FARM_ASSERT(function.body, function.name, " came out empty");
  }
  return {};
}

}  // namespace farm
