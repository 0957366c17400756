// Primitives that give a block's data another place or another layout.
#include <algorithm>

#include "schedule/primitives.h"
#include "schedule/tree.h"

namespace farm {

static std::string layout_text(const Layout& layout) {
  std::string text = "[";
  for (const auto& dim : layout) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(dim.dim);
    if (dim.divisor != 1) text += "/" + std::to_string(dim.divisor);
    if (dim.modulus) text += "%" + std::to_string(dim.modulus);
  }
  return text + "]";
}

static std::string scope_text(Scope scope) {
  constexpr const char* kNames[] = {"global", "workspace", "thread", "register"};
  return kNames[static_cast<int>(scope)];
}

static int64_t packed_extent(const LayoutDim& dim, const Shape& shape) {
  // Panels are whole: the last one is filled up with zeros.
  return dim.modulus ? dim.modulus : (shape[dim.dim] + dim.divisor - 1) / dim.divisor;
}

static Stmt loops_around(Stmt body, const std::vector<std::pair<Var, int64_t>>& loops) {
  for (size_t i = loops.size(); i-- > 0;)
    body = make_stmt(For{loops[i].first, int_imm(loops[i].second), LoopKind::Serial, "", body});
  return body;
}

std::string Schedule::cache_write(const std::string& name, Scope scope, const std::vector<int>& dims) {
  std::string what = "cache_write(" + name + ", " + scope_text(scope) + ")";
  const Block* block = find_block(name, what);
  if (!block) return {};
  Buffer out = store_of(*block).buffer;
  if (dims.size() != out->shape.size()) {
    reject(what, "needs " + std::to_string(out->shape.size()) + " dimensions");
    return {};
  }
  Shape shape;
  for (int d : dims) shape.push_back(out->shape[d]);
  Buffer cache = make_buffer(unique(out->name + "_" + scope_text(scope)), out->dtype, shape, scope);
  locals_.push_back(cache);
  auto permuted = [&](const std::vector<Expr>& indices) {
    std::vector<Expr> result;
    for (int d : dims) result.push_back(indices[d]);
    return result;
  };
  auto redirect = [&](const Stmt& s) -> Stmt {
    const auto* store = s->as<Store>();
    if (!store || store->buffer != out) return nullptr;
    return make_stmt(Store{cache, permuted(store->indices), store->value, nullptr});
  };
  auto redirect_load = [&](const Expr& e) -> Expr {
    return e->kind == ExprKind::Load && e->buffer == out ? load(cache, permuted(e->args)) : nullptr;
  };
  Block updated = *block;
  updated.body = rewrite_exprs(rewrite_stmt(block->body, redirect), redirect_load);
  if (updated.init) updated.init = rewrite_stmt(block->init, redirect);
  fill_regions(updated);

  Block copy;
  copy.name = unique(out->name + "_write");
  std::vector<Expr> indices;
  std::vector<std::pair<Var, int64_t>> loops;
  for (const auto& iter : block->iters) {
    if (iter.kind != IterKind::Spatial) continue;
    Var axis = make_var(iter.var->name), loop = make_var(unique(iter.var->name));
    copy.iters.push_back({axis, iter.extent, IterKind::Spatial, var_expr(loop)});
    indices.push_back(var_expr(axis));
    loops.emplace_back(loop, iter.extent);
  }
  copy.body = make_stmt(Store{out, indices, load(cache, permuted(indices)), nullptr});
  fill_regions(copy);
  std::string copy_name = copy.name;
  auto path = path_to_block(body_, name);
  Stmt nest = loops_around(make_stmt(std::move(copy)), loops);
  // Behind the whole nest that the block stands in: complete there, whatever its loops are.
  Stmt top = path.front()->as<Seq>() ? path[1] : path.front();
  Stmt changed = replace_stmt(top, path.back(), make_stmt(std::move(updated)));
  body_ = replace_stmt(body_, top, make_seq({changed, nest}));
  note(what);
  return copy_name;
}

std::pair<Buffer, Buffer> Schedule::repack(const std::string& name, const std::string& buffer, Scope scope,
                                           const Layout& layout, Stmt& copy_nest, std::string& copy_name) {
  std::string what = "cache_read(" + name + ", " + buffer + ", " + layout_text(layout) + ")";
  const Block* block = find_block(name, what);
  if (!block) return {};
  Buffer source;
  for (const auto& region : block->reads)
    if (region.buffer->name == buffer) source = region.buffer;
  if (!source) {
    reject(what, "the block does not read " + buffer);
    return {};
  }
  Shape shape;
  for (const auto& dim : layout) {
    if (dim.dim < 0 || dim.dim >= static_cast<int>(source->shape.size()) || dim.divisor < 1) {
      reject(what, "no such dimension or divisor");
      return {};
    }
    shape.push_back(packed_extent(dim, source->shape));
  }
  Buffer cache = make_buffer(unique(buffer + "_packed"), source->dtype, shape, scope);

  // Consumer: packed[(i_dim / divisor) % modulus ...]
  Block reader = *block;
  reader.body = rewrite_exprs(block->body, [&](const Expr& e) -> Expr {
    if (e->kind != ExprKind::Load || e->buffer != source) return nullptr;
    std::vector<Expr> indices;
    for (const auto& dim : layout) {
      Expr index = floor_div(e->args[dim.dim], int_imm(dim.divisor));
      indices.push_back(dim.modulus ? floor_mod(index, int_imm(dim.modulus)) : index);
    }
    return load(cache, std::move(indices));
  });
  fill_regions(reader);

  // Copy: packed[p...] = source[sum of p*divisor ...], zero where that lies outside.
  Block copy;
  copy.name = unique(cache->name + "_copy");
  std::vector<Expr> target, origin(source->shape.size(), int_imm(0));
  std::vector<int64_t> reach(source->shape.size(), 1);  // 1 + largest origin index
  std::vector<std::pair<Var, int64_t>> loops;
  for (size_t p = 0; p < layout.size(); ++p) {
    std::string axis_name = buffer + std::to_string(p);
    Var axis = make_var(axis_name), loop = make_var(unique(axis_name));
    copy.iters.push_back({axis, shape[p], IterKind::Spatial, var_expr(loop)});
    loops.emplace_back(loop, shape[p]);
    target.push_back(var_expr(axis));
    origin[layout[p].dim] = origin[layout[p].dim] + var_expr(axis) * layout[p].divisor;
    reach[layout[p].dim] += (shape[p] - 1) * layout[p].divisor;
  }
  Expr value = load(source, origin);
  std::vector<Expr> inside;
  for (size_t d = 0; d < origin.size(); ++d)
    if (reach[d] > source->shape[d]) inside.push_back(less(origin[d], int_imm(source->shape[d])));
  if (!inside.empty()) value = select(conjunction(inside), value, float_imm(0, source->dtype));
  copy.body = make_stmt(Store{cache, target, value, nullptr});
  fill_regions(copy);
  copy_name = copy.name;
  copy_nest = loops_around(make_stmt(std::move(copy)), loops);
  body_ = replace_stmt(body_, path_to_block(body_, name).back(), make_stmt(std::move(reader)));
  return {source, cache};
}

std::string Schedule::cache_read(const std::string& name, const std::string& buffer, Scope scope, const Layout& layout) {
  Stmt copy;
  std::string copy_name;
  auto [source, cache] = repack(name, buffer, scope, layout, copy, copy_name);
  if (!cache) return {};
  auto path = path_to_block(body_, name);
  Stmt top = path.front()->as<Seq>() ? path[1] : path.front();
  body_ = replace_stmt(body_, top, make_seq({copy, top}));
  locals_.push_back(cache);
  note("cache_read(" + name + ", " + buffer + ", " + scope_text(scope) + ", " + layout_text(layout) + ")");
  return copy_name;
}

void Schedule::pack_constant(const std::string& name, const std::string& buffer, const Layout& layout) {
  if (error_) return;
  std::string what = "pack_constant(" + name + ", " + buffer + ", " + layout_text(layout) + ")";
  bool constant = std::any_of(compute_.inputs.begin(), compute_.inputs.end(),
                              [&](const Operand& o) { return o.constant && o.buffer->name == buffer; });
  if (!constant) return reject(what, "the operand is not constant");
  Stmt copy;
  std::string copy_name;
  auto [source, cache] = repack(name, buffer, Scope::Global, layout, copy, copy_name);
  if (!cache) return;
  prepack_.push_back(copy);
  packed_.emplace_back(source, cache);
  note(what);
}

void Schedule::set_scope(const std::string& name, Scope scope) {
  std::string what = "set_scope(" + name + ", " + scope_text(scope) + ")";
  const Block* block = find_block(name, what);
  if (!block) return;
  Buffer old = store_of(*block).buffer;
  if (old->scope == Scope::Global && old == compute_.output()) return reject(what, "it is the result");
  Buffer fresh = make_buffer(old->name, old->dtype, old->shape, scope);
  auto one = [&](const Stmt& s) -> Stmt {
    if (const auto* store = s->as<Store>(); store && store->buffer == old)
      return make_stmt(Store{fresh, store->indices, store->value, store->mask});
    return nullptr;
  };
  body_ = rewrite_exprs(rewrite_stmt(body_, one), [&](const Expr& e) -> Expr {
    return e->kind == ExprKind::Load && e->buffer == old ? load(fresh, e->args) : nullptr;
  });
  body_ = rewrite_stmt(body_, [&](const Stmt& s) -> Stmt {
    const auto* b = s->as<Block>();
    if (!b) return nullptr;
    Block copy = *b;
    fill_regions(copy);
    return make_stmt(std::move(copy));
  });
  std::replace(locals_.begin(), locals_.end(), old, fresh);
  note(what);
}

}  // namespace farm
