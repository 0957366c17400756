// Primitives that move a block to where its data is needed or made.
#include <algorithm>

#include "schedule/box.h"
#include "schedule/primitives.h"
#include "schedule/tree.h"

namespace farm {
namespace {

// Removes a block with the loops that hold nothing else.
struct Detached {
  Stmt rest;   // the tree without it; null when nothing is left
  Block block;
};

Detached detach(const Stmt& body, const std::string& name) {
  auto path = path_to_block(body, name);
  Block block = *path.back()->as<Block>();
  return {replace_stmt(body, path.back(), nullptr), std::move(block)};
}

// Loops for an axis that starts at `min`: the binding, and the guards that keep it within the axis.
void bind_axis(IterVar& iter, const Var& loop, const Expr& min, int64_t extent, const VarBounds& outer, std::vector<Expr>& guards) {
  VarBounds bounds = outer;
  bounds[loop] = {0, extent - 1};
  iter.binding = simplify(min + var_expr(loop), bounds);
  Expr below = simplify(less(iter.binding, int_imm(iter.extent)), bounds);
  Expr above = simplify(less_equal(int_imm(0), iter.binding), bounds);
  if (!is_const_int(below, 1)) guards.push_back(below);
  if (!is_const_int(above, 1)) guards.push_back(above);
}

Stmt wrap(Stmt body, const std::vector<std::pair<Var, int64_t>>& loops) {
  for (size_t i = loops.size(); i-- > 0;)
    body = make_stmt(For{loops[i].first, int_imm(loops[i].second), LoopKind::Serial, "", body});
  return body;
}

// Bounds of the loops between (not with) `loop` and a block under it.
VarBounds inner_bounds(const Stmt& loop, const Block* block) {
  auto path = path_to(loop, [&](const Stmt& s) { return s->as<Block>() == block; });
  path.erase(path.begin());
  return bounds_of_path(path);
}

}  // namespace

void Schedule::compute_at(const std::string& name, const Var& loop) {
  std::string what = "compute_at(" + name + ", " + (loop ? loop->name : "?") + ")";
  const Block* producer = find_block(name, what);
  const For* target = producer ? find_loop(loop, what) : nullptr;
  if (!target) return;
  Buffer buffer = store_of(*producer).buffer;
  if (buffer == compute_.output()) return reject(what, "it makes the result: nothing reads it");
  auto loop_path = path_to_loop(body_, loop);
  if (!path_to_block(loop_path.back(), name).empty()) return reject(what, "the block is in that loop already");

  VarBounds outer = bounds_of_path(loop_path);
  BoxFinder finder(buffer);
  size_t readers = 0;
  for (const Block* block : blocks_under(loop_path.back())) {
    VarMap bindings = bindings_of(*block);
    for (const auto& access : loads_of(block->body, buffer)) {
      std::vector<Expr> indices;
      for (const auto& index : access->args) indices.push_back(substitute(index, bindings));
      finder.add(indices, outer, inner_bounds(loop_path.back(), block));
      ++readers;
    }
  }
  if (readers == 0) return reject(what, "nothing in that loop reads " + buffer->name);
  auto readers_outside = loads_of(body_, buffer).size();
  // The block's own accumulation reads its output too.
  if (readers_outside - loads_of(producer->body, buffer).size() != readers)
    return reject(what, "blocks outside that loop read " + buffer->name + " too");

  Box box = finder.box();
  auto [rest, block] = detach(body_, name);
  std::vector<std::pair<Var, int64_t>> loops;
  std::vector<Expr> guards;
  size_t d = 0;
  for (auto& iter : block.iters) {
    Var axis = make_var(unique(iter.var->name));
    bool spatial = iter.kind == IterKind::Spatial;
    Expr min = spatial ? box.min[d] : int_imm(0);
    int64_t extent = spatial ? std::min(box.extent[d], iter.extent) : iter.extent;
    d += spatial;
    bind_axis(iter, axis, min, extent, outer, guards);
    loops.emplace_back(axis, extent);
  }
  block.predicate = conjunction(guards);
  Stmt nest = wrap(make_stmt(std::move(block)), loops);
  auto path = path_to_loop(rest, loop);
  For copy = *path.back()->as<For>();
  copy.body = make_seq({nest, copy.body});
  body_ = replace_stmt(rest, path.back(), make_stmt(std::move(copy)));
  note(what);
}

// Whether every reduction of `block` runs wholly inside `loop`.
static bool finished_inside(const Stmt& loop, const Block& block) {
  VarBounds inner = inner_bounds(loop, &block);
  for (const auto& iter : block.iters) {
    if (iter.kind != IterKind::Reduce) continue;
    auto range = interval_of(iter.binding, inner);
    if (!range || range->extent() < iter.extent) return false;
  }
  return true;
}

void Schedule::reverse_compute_at(const std::string& name, const Var& loop) {
  std::string what = "reverse_compute_at(" + name + ", " + (loop ? loop->name : "?") + ")";
  const Block* consumer = find_block(name, what);
  const For* target = consumer ? find_loop(loop, what) : nullptr;
  if (!target) return;
  if (consumer->init) return reject(what, "the block reduces");
  auto loop_path = path_to_loop(body_, loop);
  VarBounds outer = bounds_of_path(loop_path);

  // The producers in the loop fix where the consumer's axes start.
  std::unordered_map<Var, std::pair<Expr, int64_t>> starts;
  for (const Block* producer : blocks_under(loop_path.back())) {
    const Store& store = store_of(*producer);
    auto reads = loads_of(consumer->body, store.buffer);
    if (reads.empty()) continue;
    if (!finished_inside(loop_path.back(), *producer))
      return reject(what, "the reduction of " + producer->name + " goes on outside that loop");
    BoxFinder finder(store.buffer);
    VarMap bindings = bindings_of(*producer);
    std::vector<Expr> indices;
    for (const auto& index : store.indices) indices.push_back(substitute(index, bindings));
    finder.add(indices, outer, inner_bounds(loop_path.back(), producer));
    Box box = finder.box();
    for (const auto& read : reads)
      for (size_t d = 0; d < read->args.size(); ++d) {
        if (read->args[d]->kind != ExprKind::Var) return reject(what, "it does not read " + store.buffer->name + " element by element");
        starts[read->args[d]->var] = {box.min[d], box.extent[d]};
      }
  }
  if (starts.empty()) return reject(what, "nothing in that loop makes what the block reads");

  auto [rest, block] = detach(body_, name);
  std::vector<std::pair<Var, int64_t>> loops;
  std::vector<Expr> guards;
  for (auto& iter : block.iters) {
    Var axis = make_var(unique(iter.var->name));
    auto start = starts.find(iter.var);
    Expr min = start == starts.end() ? int_imm(0) : start->second.first;
    int64_t extent = start == starts.end() ? iter.extent : std::min(start->second.second, iter.extent);
    bind_axis(iter, axis, min, extent, outer, guards);
    loops.emplace_back(axis, extent);
  }
  block.predicate = conjunction(guards);
  Stmt nest = wrap(make_stmt(std::move(block)), loops);
  auto path = path_to_loop(rest, loop);
  For copy = *path.back()->as<For>();
  copy.body = make_seq({copy.body, nest});
  body_ = replace_stmt(rest, path.back(), make_stmt(std::move(copy)));
  note(what);
}

void Schedule::compute_inline(const std::string& name) {
  std::string what = "compute_inline(" + name + ")";
  const Block* producer = find_block(name, what);
  if (!producer) return;
  if (producer->init) return reject(what, "the block reduces");
  Store store = store_of(*producer);
  if (store.buffer == compute_.output()) return reject(what, "it makes the result: nothing reads it");
  for (const auto& index : store.indices)
    if (index->kind != ExprKind::Var) return reject(what, "it does not write element by element");
  auto [rest, block] = detach(body_, name);
  if (!rest) return reject(what, "nothing reads it");
  auto in_place = [&](const Expr& e) -> Expr {
    if (e->kind != ExprKind::Load || e->buffer != store.buffer) return nullptr;
    VarMap map;
    for (size_t d = 0; d < e->args.size(); ++d) map[store.indices[d]->var] = e->args[d];
    return substitute(store.value, map);
  };
  body_ = rewrite_stmt(rest, [&](const Stmt& s) -> Stmt {
    const auto* reader = s->as<Block>();
    if (!reader) return nullptr;
    Block copy = *reader;
    copy.body = rewrite_exprs(copy.body, in_place);
    fill_regions(copy);
    return make_stmt(std::move(copy));
  });
  std::erase(locals_, store.buffer);
  note(what);
}

std::string Schedule::decompose_reduction(const std::string& name, const Var& loop) {
  std::string what = "decompose_reduction(" + name + ", " + (loop ? loop->name : "?") + ")";
  const Block* block = find_block(name, what);
  const For* target = block ? find_loop(loop, what) : nullptr;
  if (!target) return {};
  if (!block->init) {
    reject(what, "the block does not reduce");
    return {};
  }
  Stmt loop_stmt = path_to_loop(body_, loop).back();
  auto path = path_to_block(loop_stmt, name);
  if (path.empty()) {
    reject(what, "the block is not in that loop");
    return {};
  }
  if (!finished_inside(loop_stmt, *block) && !finished_inside(make_stmt(Seq{{loop_stmt}}), *block)) {
    reject(what, "the reduction goes on outside that loop");
    return {};
  }
  // Copies of the loops that drive spatial axes, with their kinds.
  Block init;
  init.name = unique(name + "_init");
  init.body = block->init;
  VarMap renamed;
  std::vector<For> loops;
  for (const auto& stmt : path) {
    const auto* source = stmt->as<For>();
    if (!source) continue;
    bool spatial = false;
    for (const auto& iter : block->iters)
      spatial |= iter.kind == IterKind::Spatial && uses_var(iter.binding, source->var);
    if (!spatial) continue;
    For copy = *source;
    copy.var = make_var(unique(source->var->name));
    renamed[source->var] = var_expr(copy.var);
    loops.push_back(std::move(copy));
  }
  VarMap fresh;  // axes of its own, so that no variable stands in two blocks
  for (const auto& iter : block->iters) {
    if (iter.kind != IterKind::Spatial) continue;
    IterVar copy = iter;
    copy.var = make_var(iter.var->name);
    copy.binding = substitute(iter.binding, renamed);
    fresh[iter.var] = var_expr(copy.var);
    init.iters.push_back(std::move(copy));
  }
  init.body = rewrite_exprs(block->init, [&](const Expr& e) -> Expr {
    auto found = e->kind == ExprKind::Var ? fresh.find(e->var) : fresh.end();
    return found == fresh.end() ? nullptr : found->second;
  });
  std::vector<Expr> guards;
  VarBounds around = bounds_of_path(path_to_loop(body_, loop));
  around.erase(loop);
  for (const auto& guard : conjuncts(block->predicate)) {
    Expr renamed_guard = substitute(guard, renamed);
    bool in_sight = true;  // a guard over a reduce loop says nothing about the init
    for (const auto& stmt : path)
      if (const auto* source = stmt->as<For>()) in_sight &= !uses_var(renamed_guard, source->var);
    if (in_sight) guards.push_back(renamed_guard);
  }
  init.predicate = conjunction(guards);
  fill_regions(init);
  std::string init_name = init.name;
  Stmt nest = make_stmt(std::move(init));
  for (size_t i = loops.size(); i-- > 0;) {
    loops[i].body = nest;
    nest = make_stmt(std::move(loops[i]));
  }
  Block rest = *block;
  rest.init = nullptr;
  Stmt updated = replace_stmt(loop_stmt, path.back(), make_stmt(std::move(rest)));
  body_ = replace_stmt(body_, loop_stmt, make_seq({nest, updated}));
  note(what);
  return init_name;
}

}  // namespace farm
