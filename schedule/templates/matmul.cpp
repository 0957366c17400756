// matmul and batch_matmul: a register tile of rows by vectors along n, summed over all of k. B is packed in panels as
// wide as the tile (outside what is timed when it is constant), A is read as it lies or packed for a block of rows.
#include <algorithm>

#include "schedule/templates/templates.h"
#include "schedule/templates/tiling.h"

namespace farm {
namespace {

struct Product {
  std::shared_ptr<const Compute> compute;
  bool batched, constant_b, transposed_b, biased;
  int64_t batch = 1, m, n, k;
  Target target;
  int threads;
  std::string block() const { return biased ? "product" : "out"; }
  int first_dim() const { return batched ? 1 : 0; }
};

Product describe_product(const TemplateInput& input) {
  Product p;
  p.compute = input.compute;
  p.batched = input.task.op == "batch_matmul";
  const Stage& stage = input.compute->stages.front();
  p.biased = input.compute->stages.size() > 1;
  if (p.batched) p.batch = stage.axes[0].extent;
  p.m = stage.axes[p.first_dim()].extent;
  p.n = stage.axes[p.first_dim() + 1].extent;
  p.k = stage.reduce[0].extent;
  p.constant_b = std::any_of(input.compute->inputs.begin(), input.compute->inputs.end(), [](const Operand& o) { return o.constant; });
  p.transposed_b = window_attribute(input.task, "transpose_b", 0).first != 0;
  p.target = input.target;
  p.threads = input.threads;
  return p;
}

// B as [batch][n/tile][k][n%tile].
Layout panel_layout(const Product& p, int64_t tile) {
  int n = p.first_dim() + (p.transposed_b ? 0 : 1), k = p.first_dim() + (p.transposed_b ? 1 : 0);
  Layout layout;
  if (p.batched) layout.push_back({0});
  layout.push_back({n, tile});
  layout.push_back({k});
  layout.push_back({n, 1, tile});
  return layout;
}

// A as [batch][m/tile][k][m%tile].
Layout rows_layout(const Product& p, int64_t tile) {
  int m = p.first_dim();
  Layout layout;
  if (p.batched) layout.push_back({0});
  layout.push_back({m, tile});
  layout.push_back({m + 1});
  layout.push_back({m, 1, tile});
  return layout;
}

void pack_b_once(Schedule& s, const Product& p, int64_t tile) {
  std::string copy = s.cache_read(p.block(), "b", Scope::Workspace, panel_layout(p, tile));
  auto l = s.loops(copy);
  if (s.failed()) return;
  if (p.threads > 1) s.parallel(p.batched ? s.fuse(l[0], l[1]) : l[0]);
  vectorize_last(s, copy, p.target.float_lanes());
}

enum PackB : int64_t { kAsItLies = 0, kPanels = 1 };

Result<Module> schedule_product(const Product& p, const Candidate& c, std::vector<std::string>& trace) {
  int lanes = p.target.float_lanes();
  int64_t m_tile = c.choice("m_tile"), n_tile = c.choice("n_vectors") * lanes;
  Schedule s(*p.compute);
  std::string block = p.block(), write = "out", rows;
  if (p.constant_b) s.pack_constant(block, "b", panel_layout(p, n_tile));
  else if (c.choice("pack_b") == kPanels) pack_b_once(s, p, n_tile);
  if (c.choice("pack_a")) rows = s.cache_read(block, "a", Scope::Workspace, rows_layout(p, m_tile));
  if (p.biased) s.set_scope(block, Scope::Register);
  else write = s.cache_write(block, Scope::Register, p.batched ? std::vector<int>{0, 1, 2} : std::vector<int>{0, 1});

  auto l = s.loops(block);  // [batch] m n k
  if (s.failed()) return s.finish();
  size_t first = l.size() - 3;
  auto [mo, mt] = s.split_whole(l[first], m_tile);
  auto [mc, mi] = s.split(mo, c.choice("m_chunk"));
  auto [no, nt] = s.split_whole(l[first + 1], n_tile);
  auto [nc, ni] = s.split(no, c.choice("n_chunk"));
  auto [ko, ki] = s.split(l[first + 2], c.choice("k_unroll"));
  std::vector<Var> order;
  if (p.batched) order.push_back(l[0]);
  order.insert(order.end(), {nc, mc});
  if (c.choice("order") == 0) order.insert(order.end(), {ni, mi});
  else order.insert(order.end(), {mi, ni});
  Var tile = order.back();
  order.insert(order.end(), {ko, ki, mt, nt});
  s.reorder(order);
  Var chunk = p.batched ? s.fuse({l[0], nc, mc}) : s.fuse(nc, mc);
  if (p.threads > 1) s.parallel(chunk);
  if (c.choice("k_unroll") > 1) s.unroll(ki);

  s.reverse_compute_at(write, tile);
  for (const auto& name : {write, block}) {
    auto loops = s.loops(name);
    if (s.failed()) return s.finish();
    s.unroll(loops[loops.size() - 2]);
    auto [vectors, lane] = s.split(loops.back(), lanes);
    s.unroll(vectors);
    s.vectorize(lane);
  }
  s.decompose_reduction(block, ko);
  if (!rows.empty()) s.compute_at(rows, chunk);
  trace = s.trace();
  return s.finish();
}

std::vector<int64_t> divisors_of(int64_t extent, std::vector<int64_t> options) {
  std::erase_if(options, [&](int64_t o) { return extent % o != 0; });
  return options;
}

Variant tiles(const Product& p) {
  int lanes = p.target.float_lanes();
  Variant variant;
  variant.name = "tiles";
  int64_t vectors = std::max<int64_t>(1, (p.n + lanes - 1) / lanes);
  variant.decisions = {
      {"m_tile", up_to({1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16}, p.m)},
      {"n_vectors", up_to({1, 2, 3, 4, 6, 8}, vectors)},
      {"m_chunk", up_to({1, 2, 4, 8, 12, 16, 24, 32, 64}, p.m)},
      {"n_chunk", up_to({1, 2, 4, 8, 16, 32, 64}, vectors)},
      {"order", {0, 1}},
      {"pack_a", {0, 1}},
      {"k_unroll", divisors_of(p.k, {1, 2, 4, 8})},
  };
  if (!p.constant_b) variant.decisions.push_back({"pack_b", p.transposed_b ? std::vector<int64_t>{kPanels} : std::vector<int64_t>{kAsItLies, kPanels}});
  variant.allowed = [p, lanes](const Candidate& c) {
    // Unpacked panels may not reach beyond the matrix.
    if (!p.constant_b && c.choice("pack_b") == kAsItLies && p.n % (c.choice("n_vectors") * lanes) != 0) return false;
    return fits_registers({c.choice("m_tile"), c.choice("n_vectors")}, p.target);
  };
  variant.apply = [p](const Candidate& c, std::vector<std::string>& trace) { return schedule_product(p, c, trace); };
  return variant;
}

// A block of rows of A that stays in half of the second-level cache, panels of B streamed past it.
Candidate default_candidate(const Product& p, const Variant& variant) {
  RegisterTile tile = best_tile(options_of(variant, "m_tile"), options_of(variant, "n_vectors"), p.m, p.n, p.target);
  int64_t panels = (p.n + tile.vectors * p.target.float_lanes() - 1) / (tile.vectors * p.target.float_lanes());
  int64_t tiles_m = (p.m + tile.rows - 1) / tile.rows;
  int64_t fitting = std::max<int64_t>(1, p.target.l2_bytes / 2 / (4 * p.k * tile.rows));
  auto at_most = [](const std::vector<int64_t>& all, int64_t limit) {
    int64_t best = all.front();
    for (int64_t o : all) if (o <= limit) best = o;
    return best;
  };
  int64_t m_chunk = at_most(options_of(variant, "m_chunk"), std::min(fitting, tiles_m));
  int64_t chunks_m = p.batch * ((tiles_m + m_chunk - 1) / m_chunk);
  int64_t n_chunk = balanced_block(options_of(variant, "n_chunk"), panels, chunks_m, p.threads);
  return make_candidate(variant, {{"m_tile", tile.rows}, {"n_vectors", tile.vectors}, {"m_chunk", m_chunk}, {"n_chunk", n_chunk},
                                  {"order", 0}, {"pack_a", p.m > tile.rows ? 1 : 0}, {"k_unroll", at_most(options_of(variant, "k_unroll"), 4)},
                                  {"pack_b", kPanels}});
}

}  // namespace

Result<Template> matmul_template(const TemplateInput& input) {
  Product product = describe_product(input);
  Template made;
  made.variants = {tiles(product)};
  made.fallback = default_candidate(product, made.variants[0]);
  return made;
}

}  // namespace farm
