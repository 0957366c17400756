#include "schedule/loop_nest.h"

#include "base/result.h"

namespace farm {

Stmt make_seq(std::vector<Stmt> stmts) {
  std::vector<Stmt> flat;
  for (auto& stmt : stmts) {
    if (!stmt) continue;
    if (const auto* seq = stmt->as<Seq>()) flat.insert(flat.end(), seq->stmts.begin(), seq->stmts.end());
    else flat.push_back(std::move(stmt));
  }
  if (flat.size() == 1) return flat.front();
  return make_stmt(Seq{std::move(flat)});
}

namespace {

// Calls `each` on every direct child statement and puts its result in the child's place.
template <class Each>
Stmt map_children(const Stmt& stmt, Each each) {
  auto replace = [&](auto node, auto... members) -> Stmt {
    bool changed = false;
    auto one = [&](Stmt& child) {
      if (!child) return;
      Stmt next = each(child);
      changed |= next != child;
      child = next;
    };
    (one(node.*members), ...);
    return changed ? make_stmt(std::move(node)) : stmt;
  };
  if (const auto* node = stmt->as<For>()) return replace(*node, &For::body);
  if (const auto* node = stmt->as<Block>()) return replace(*node, &Block::init, &Block::body);
  if (const auto* node = stmt->as<If>()) return replace(*node, &If::then, &If::otherwise);
  if (const auto* node = stmt->as<Allocate>()) return replace(*node, &Allocate::body);
  if (const auto* node = stmt->as<Seq>()) {
    std::vector<Stmt> next;
    bool changed = false;
    for (const auto& child : node->stmts) {
      next.push_back(each(child));
      changed |= next.back() != child;
    }
    return changed ? make_seq(std::move(next)) : stmt;
  }
  return stmt;
}

}  // namespace

Stmt rewrite_stmt(const Stmt& stmt, const std::function<Stmt(const Stmt&)>& rewrite) {
  Stmt current = map_children(stmt, [&](const Stmt& child) { return rewrite_stmt(child, rewrite); });
  Stmt replaced = rewrite(current);
  return replaced ? replaced : current;
}

void visit_stmt(const Stmt& stmt, const std::function<void(const Stmt&)>& visitor) {
  visitor(stmt);
  map_children(stmt, [&](const Stmt& child) {
    visit_stmt(child, visitor);
    return child;
  });
}

static void rewrite_region(Region& region, const std::function<Expr(const Expr&)>& one) {
  for (auto& min : region.min) min = one(min);
}

static Stmt rewrite_own_exprs(const Stmt& stmt, const std::function<Expr(const Expr&)>& rewriter) {
  auto one = [&](const Expr& expr) { return expr ? rewrite(expr, rewriter) : expr; };
  if (const auto* node = stmt->as<For>()) {
    For copy = *node;
    copy.extent = one(copy.extent);
    return copy.extent == node->extent ? stmt : make_stmt(std::move(copy));
  }
  if (const auto* node = stmt->as<Block>()) {
    Block copy = *node;
    for (auto& iter : copy.iters) iter.binding = one(iter.binding);
    copy.predicate = one(copy.predicate);
    for (auto& region : copy.reads) rewrite_region(region, one);
    for (auto& region : copy.writes) rewrite_region(region, one);
    return make_stmt(std::move(copy));
  }
  if (const auto* node = stmt->as<Store>()) {
    Store copy = *node;
    bool changed = false;
    for (auto& index : copy.indices) {
      Expr next = one(index);
      changed |= next != index;
      index = next;
    }
    copy.value = one(copy.value);
    copy.mask = one(copy.mask);
    changed |= copy.value != node->value || copy.mask != node->mask;
    return changed ? make_stmt(std::move(copy)) : stmt;
  }
  if (const auto* node = stmt->as<If>()) {
    If copy = *node;
    copy.condition = one(copy.condition);
    return copy.condition == node->condition ? stmt : make_stmt(std::move(copy));
  }
  if (const auto* node = stmt->as<Evaluate>()) {
    Evaluate copy = *node;
    copy.call = one(copy.call);
    return make_stmt(std::move(copy));
  }
  return stmt;
}

Stmt rewrite_exprs(const Stmt& stmt, const std::function<Expr(const Expr&)>& rewriter) {
  return rewrite_stmt(stmt, [&](const Stmt& s) { return rewrite_own_exprs(s, rewriter); });
}

void visit_exprs(const Stmt& stmt, const std::function<void(const Expr&)>& visitor) {
  auto one = [&](const Expr& expr) {
    if (expr) visitor(expr);
  };
  visit_stmt(stmt, [&](const Stmt& s) {
    if (const auto* node = s->as<For>()) one(node->extent);
    else if (const auto* node = s->as<Block>()) {
      for (const auto& iter : node->iters) one(iter.binding);
      one(node->predicate);
    } else if (const auto* node = s->as<Store>()) {
      for (const auto& index : node->indices) one(index);
      one(node->value);
      one(node->mask);
    } else if (const auto* node = s->as<If>()) one(node->condition);
    else if (const auto* node = s->as<Evaluate>()) one(node->call);
  });
}

Hash module_hash(const Module& module) { return hash_text(to_string(module)); }

}  // namespace farm
