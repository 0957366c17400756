// Primitives that reshape loops: split, tile, fuse, reorder, and the kinds.
#include <algorithm>

#include "schedule/primitives.h"
#include "schedule/tree.h"

namespace farm {

// `predicate` joins the predicate of every block under `stmt`.
static Stmt guard_blocks(const Stmt& stmt, const Expr& predicate) {
  return rewrite_stmt(stmt, [&](const Stmt& s) -> Stmt {
    const auto* block = s->as<Block>();
    if (!block) return nullptr;
    Block copy = *block;
    copy.predicate = copy.predicate ? logical_and(copy.predicate, predicate) : predicate;
    return make_stmt(std::move(copy));
  });
}

static Stmt substitute_loop(const Stmt& stmt, const Var& var, const Expr& value) {
  VarMap map{{var, value}};
  return rewrite_exprs(stmt, [&](const Expr& e) -> Expr {
    return e->kind == ExprKind::Var && e->var == var ? value : nullptr;
  });
}

void Schedule::replace_loop(const Var& loop, Stmt replacement) {
  body_ = replace_stmt(body_, path_to_loop(body_, loop).back(), replacement);
}

static std::string call_text(const char* primitive, const Var& loop, int64_t factor) {
  return std::string(primitive) + "(" + (loop ? loop->name : "?") + ", " + std::to_string(factor) + ")";
}

std::pair<Var, Var> Schedule::split(const Var& loop, int64_t factor) {
  std::string what = call_text("split", loop, factor);
  return split_by(loop, find_loop(loop, what) ? std::min(factor, extent(loop)) : factor, what);
}

std::pair<Var, Var> Schedule::split_whole(const Var& loop, int64_t factor) {
  return split_by(loop, factor, call_text("split_whole", loop, factor));
}

std::pair<Var, Var> Schedule::split_by(const Var& loop, int64_t factor, const std::string& what) {
  const For* node = find_loop(loop, what);
  if (!node) return {};
  if (factor < 1) {
    reject(what, "the factor must be at least 1");
    return {};
  }
  if (node->kind != LoopKind::Serial) {
    reject(what, "the loop is not serial any more");
    return {};
  }
  int64_t whole = extent(loop);
  Var outer = make_var(unique(loop->name + "o")), inner = make_var(unique(loop->name + "i"));
  Expr value = var_expr(outer) * factor + var_expr(inner);
  Stmt body = substitute_loop(node->body, loop, value);
  if (whole % factor != 0) body = guard_blocks(body, less(value, int_imm(whole)));
  Stmt nest = make_stmt(For{inner, int_imm(factor), LoopKind::Serial, "", body});
  replace_loop(loop, make_stmt(For{outer, int_imm((whole + factor - 1) / factor), LoopKind::Serial, "", nest}));
  note(what);
  return {outer, inner};
}

std::vector<Var> Schedule::tile(const Var& loop, const std::vector<int64_t>& factors) {
  std::vector<Var> loops{loop};
  for (size_t i = factors.size(); i-- > 0;) {
    auto [outer, inner] = split(loops.front(), factors[i]);
    loops.front() = inner;
    loops.insert(loops.begin(), outer);
  }
  return loops;
}

Var Schedule::fuse(const Var& outer, const Var& inner) {
  std::string what = "fuse(" + (outer ? outer->name : "?") + ", " + (inner ? inner->name : "?") + ")";
  const For* first = find_loop(outer, what);
  const For* second = first ? find_loop(inner, what) : nullptr;
  if (!second) return {};
  if (first->body->as<For>() != second) {
    reject(what, "the second loop is not the only thing in the first");
    return {};
  }
  int64_t inner_extent = extent(inner);
  Var fused = make_var(unique(outer->name + "." + inner->name));
  Stmt body = substitute_loop(second->body, outer, floor_div(var_expr(fused), int_imm(inner_extent)));
  body = substitute_loop(body, inner, floor_mod(var_expr(fused), int_imm(inner_extent)));
  replace_loop(outer, make_stmt(For{fused, int_imm(extent(outer) * inner_extent), LoopKind::Serial, "", body}));
  note(what);
  return fused;
}

Var Schedule::fuse(const std::vector<Var>& loops) {
  Var fused = loops.front();
  for (size_t i = 1; i < loops.size(); ++i) fused = fuse(fused, loops[i]);
  return fused;
}

void Schedule::reorder(const std::vector<Var>& order) {
  std::string what = "reorder(";
  for (size_t i = 0; i < order.size(); ++i) what += (i ? ", " : "") + (order[i] ? order[i]->name : "?");
  what += ")";
  for (const auto& loop : order)
    if (!find_loop(loop, what)) return;
  auto position = [&](const Var& loop) { return path_to_loop(body_, loop).size(); };
  Var top = *std::min_element(order.begin(), order.end(), [&](const Var& a, const Var& b) { return position(a) < position(b); });
  // The chain from the outermost of them down to the innermost: loops only.
  std::vector<const For*> chain;
  size_t found = 0;
  Stmt top_stmt = path_to_loop(body_, top).back();
  for (const For* loop = top_stmt->as<For>(); loop; loop = loop->body->as<For>()) {
    chain.push_back(loop);
    found += std::count(order.begin(), order.end(), loop->var);
    if (found == order.size()) break;
  }
  if (found != order.size()) return reject(what, "the loops are not on one chain");
  Stmt nest = chain.back()->body;
  size_t next = order.size();
  for (size_t i = chain.size(); i-- > 0;) {
    const For* source = chain[i];
    if (std::count(order.begin(), order.end(), source->var)) {
      Var wanted = order[--next];
      source = *std::find_if(chain.begin(), chain.end(), [&](const For* loop) { return loop->var == wanted; });
    }
    For copy = *source;
    copy.body = nest;
    nest = make_stmt(std::move(copy));
  }
  body_ = replace_stmt(body_, top_stmt, nest);
  note(what);
}

// A loop over a reduction cannot run in any order but its own, nor in parallel.
static bool drives_reduction(const For& loop) {
  for (const Block* block : blocks_under(loop.body))
    for (const auto& iter : block->iters)
      if (iter.kind == IterKind::Reduce && uses_var(iter.binding, loop.var)) return true;
  return false;
}

// A vector of vectors has no meaning: neither around nor inside a vectorized loop is there another.
static bool meets_vector(const Stmt& root, const Var& loop) {
  auto path = path_to_loop(root, loop);
  bool found = false;
  auto look = [&](const Stmt& s) {
    const auto* node = s->as<For>();
    found |= node && node->kind == LoopKind::Vectorized;
  };
  std::for_each(path.begin(), path.end(), look);
  visit_stmt(path.back(), look);
  return found;
}

void Schedule::set_kind(const Var& loop, LoopKind kind, const std::string& primitive) {
  std::string what = primitive + "(" + (loop ? loop->name : "?") + ")";
  const For* node = find_loop(loop, what);
  if (!node) return;
  if (node->kind != LoopKind::Serial) return reject(what, "the loop has a kind already");
  if (kind != LoopKind::Unrolled && drives_reduction(*node)) return reject(what, "the loop runs over a reduction");
  if (kind == LoopKind::Vectorized && meets_vector(body_, loop)) return reject(what, "there is a vectorized loop around or inside");
  For copy = *node;
  copy.kind = kind;
  replace_loop(loop, make_stmt(std::move(copy)));
  note(what);
}

void Schedule::vectorize(const Var& loop) { set_kind(loop, LoopKind::Vectorized, "vectorize"); }
void Schedule::unroll(const Var& loop) { set_kind(loop, LoopKind::Unrolled, "unroll"); }
void Schedule::parallel(const Var& loop) { set_kind(loop, LoopKind::Parallel, "parallel"); }

}  // namespace farm
