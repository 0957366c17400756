#include "schedule/tree.h"

#include <algorithm>

#include "base/result.h"

namespace farm {

static bool find_path(const Stmt& stmt, const std::function<bool(const Stmt&)>& wanted, std::vector<Stmt>& path) {
  path.push_back(stmt);
  if (wanted(stmt)) return true;
  auto into = [&](const Stmt& child) { return child && find_path(child, wanted, path); };
  if (const auto* node = stmt->as<For>()) {
    if (into(node->body)) return true;
  } else if (const auto* node = stmt->as<Seq>()) {
    for (const auto& child : node->stmts)
      if (into(child)) return true;
  } else if (const auto* node = stmt->as<If>()) {
    if (into(node->then) || into(node->otherwise)) return true;
  } else if (const auto* node = stmt->as<Allocate>()) {
    if (into(node->body)) return true;
  }
  path.pop_back();
  return false;
}

std::vector<Stmt> path_to(const Stmt& root, const std::function<bool(const Stmt&)>& wanted) {
  std::vector<Stmt> path;
  if (root) find_path(root, wanted, path);
  return path;
}

std::vector<Stmt> path_to_loop(const Stmt& root, const Var& loop) {
  return path_to(root, [&](const Stmt& s) { return s->as<For>() && s->as<For>()->var == loop; });
}

std::vector<Stmt> path_to_block(const Stmt& root, const std::string& block) {
  return path_to(root, [&](const Stmt& s) { return s->as<Block>() && s->as<Block>()->name == block; });
}

Stmt replace_stmt(const Stmt& root, const Stmt& old, const Stmt& replacement) {
  if (root == old) return replacement;
  if (const auto* node = root->as<For>()) {
    Stmt body = replace_stmt(node->body, old, replacement);
    if (body == node->body) return root;
    if (!body) return nullptr;
    For copy = *node;
    copy.body = body;
    return make_stmt(std::move(copy));
  }
  if (const auto* node = root->as<Seq>()) {
    std::vector<Stmt> stmts;
    bool changed = false;
    for (const auto& child : node->stmts) {
      stmts.push_back(replace_stmt(child, old, replacement));
      changed |= stmts.back() != child;
    }
    if (!changed) return root;
    std::erase(stmts, nullptr);
    return stmts.empty() ? nullptr : make_seq(std::move(stmts));
  }
  if (const auto* node = root->as<If>()) {
    If copy = *node;
    copy.then = replace_stmt(node->then, old, replacement);
    if (node->otherwise) copy.otherwise = replace_stmt(node->otherwise, old, replacement);
    if (copy.then == node->then && copy.otherwise == node->otherwise) return root;
    return copy.then ? make_stmt(std::move(copy)) : nullptr;
  }
  if (const auto* node = root->as<Allocate>()) {
    Stmt body = replace_stmt(node->body, old, replacement);
    if (body == node->body) return root;
    return body ? make_stmt(Allocate{node->buffer, body}) : nullptr;
  }
  return root;
}

Interval loop_range(const For& loop) {
  auto extent = const_int(loop.extent);
  FARM_ASSERT(extent && *extent >= 1, "loop ", loop.var->name, " has extent ", to_string(loop.extent));
  return {0, *extent - 1};
}

VarBounds bounds_of_path(const std::vector<Stmt>& path) {
  VarBounds bounds;
  for (const auto& stmt : path)
    if (const auto* loop = stmt->as<For>()) bounds[loop->var] = loop_range(*loop);
  return bounds;
}

std::vector<const Block*> blocks_under(const Stmt& stmt) {
  std::vector<const Block*> blocks;
  visit_stmt(stmt, [&](const Stmt& s) {
    if (const auto* block = s->as<Block>()) blocks.push_back(block);
  });
  return blocks;
}

std::vector<Expr> loads_of(const Stmt& stmt, const Buffer& buffer) {
  std::vector<Expr> loads;
  visit_exprs(stmt, [&](const Expr& root) {
    rewrite(root, [&](const Expr& e) -> Expr {
      if (e->kind == ExprKind::Load && e->buffer == buffer) loads.push_back(e);
      return nullptr;
    });
  });
  return loads;
}

const Store& store_of(const Block& block) {
  const auto* store = block.body->as<Store>();
  FARM_ASSERT(store, "block ", block.name, " is no single store");
  return *store;
}

static Region point(const Buffer& buffer, const std::vector<Expr>& indices) {
  return {buffer, indices, std::vector<int64_t>(indices.size(), 1)};
}

void fill_regions(Block& block) {
  block.reads.clear();
  block.writes.clear();
  const Store& store = store_of(block);
  block.writes.push_back(point(store.buffer, store.indices));
  rewrite(store.value, [&](const Expr& e) -> Expr {
    if (e->kind == ExprKind::Load && e->buffer != store.buffer) block.reads.push_back(point(e->buffer, e->args));
    return nullptr;
  });
}

Stmt without_conditions(const Stmt& stmt, const std::vector<Expr>& certain) {
  return rewrite_stmt(stmt, [&](const Stmt& s) -> Stmt {
    const auto* node = s->as<If>();
    if (!node) return nullptr;
    std::vector<Expr> open;
    for (const auto& condition : conjuncts(node->condition))
      if (std::none_of(certain.begin(), certain.end(), [&](const Expr& one) { return same_expr(one, condition); }))
        open.push_back(condition);
    return open.empty() ? node->then : make_stmt(If{conjunction(open), node->then, node->otherwise, node->droppable});
  });
}

VarMap bindings_of(const Block& block) {
  VarMap map;
  for (const auto& iter : block.iters) map[iter.var] = iter.binding;
  return map;
}

}  // namespace farm
