#include "tuner/synthetic_space.h"

#include <algorithm>
#include <cmath>

namespace farm::synthetic {
namespace {

constexpr int64_t kSize = 96;

struct Tiles {
  int64_t y, x, k;
  bool unroll, parallel_rows;
};

Tiles tiles_of(const Candidate& c) {
  return {c.choice("tile_y"), c.choice("tile_x"), c.choice("tile_k"), c.choice("unroll") == 1, c.choice("rows") == 1};
}

Stmt loop(const Var& var, int64_t extent, LoopKind kind, Stmt body) {
  return make_stmt(For{var, int_imm(extent), kind, "", std::move(body)});
}

// c[i, j] += a[i, k] * b[k, j] by tiles; `packed` reads b in the order of the tiles.
Module tiled_product(const Tiles& t, bool packed) {
  const Var io = make_var("io"), jo = make_var("jo"), ko = make_var("ko");
  const Var y = make_var("y"), x = make_var("x"), k = make_var("k");
  const auto e = [](const Var& v) { return var_expr(v); };
  const Buffer a = make_buffer("a", kFloat32, {kSize * kSize}), b = make_buffer("b", kFloat32, {kSize * kSize});
  const Buffer c = make_buffer("c", kFloat32, {kSize * kSize});
  const Expr row = e(io) * t.y + e(y), column = e(jo) * t.x + e(x), step = e(ko) * t.k + e(k);
  const Expr b_at = packed ? (e(jo) * kSize + step) * t.x + e(x) : step * kSize + column;
  const Expr sum = load(c, {row * kSize + column}) + load(a, {row * kSize + step}) * load(b, {b_at});
  Stmt body = make_stmt(Store{c, {row * kSize + column}, sum, nullptr});
  body = loop(x, t.x, LoopKind::Vectorized, std::move(body));
  body = loop(y, t.y, t.unroll ? LoopKind::Unrolled : LoopKind::Serial, std::move(body));
  body = loop(ko, kSize / t.k, LoopKind::Serial, loop(k, t.k, LoopKind::Serial, std::move(body)));
  const auto outer = [](bool parallel) { return parallel ? LoopKind::Parallel : LoopKind::Serial; };
  body = loop(jo, kSize / t.x, outer(!t.parallel_rows), std::move(body));
  body = loop(io, kSize / t.y, outer(t.parallel_rows), std::move(body));
  Module module;
  module.functions = {{"run", FunctionRole::Run, {a, b, c}, {}, {}, std::move(body)}};
  module.inputs = {a, b};
  module.output = c;
  module.flops = 2.0 * kSize * kSize * kSize;
  return module;
}

Variant make_variant(const std::string& name, size_t options) {
  const std::vector<int64_t> divisors{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 96};
  const auto some = [&](std::vector<int64_t> all) { return all.resize(std::min(all.size(), options)), all; };
  Variant variant;
  variant.name = name;
  variant.decisions = {{"tile_y", some(divisors)},
                       {"tile_x", some(divisors)},
                       {"tile_k", some(divisors)},
                       {"unroll", {0, 1}},
                       {"rows", {0, 1}}};
  variant.allowed = [](const Candidate& c) { return c.choice("tile_y") * c.choice("tile_x") <= 1024; };
  variant.apply = [name](const Candidate& c, std::vector<std::string>& trace) -> Result<Module> {
    trace.push_back("tile " + c.text());
    return tiled_product(tiles_of(c), name == "packed");
  };
  return variant;
}

// 0 .. 1, the same for equal text.
double noise(const std::string& text) { return static_cast<double>(hash_text(text).bytes[0]) / 255; }

}  // namespace

std::shared_ptr<const ScheduleSpace> make_space(size_t options) {
  const Task task = make_task("matmul", "m=96,n=96,k=96").value();
  Target target;
  target.vector_bits = 256;
  std::vector<Variant> variants{make_variant("plain", options), make_variant("packed", options)};
  Candidate fallback = {"plain", {}};
  for (const Decision& decision : variants[0].decisions)
    fallback.choices.emplace_back(decision.name, decision.options[std::min<size_t>(1, decision.options.size() - 1)]);
  return std::make_shared<ScheduleSpace>(task, target, 2, std::move(variants), fallback);
}

// Register tiles want 8 to 14 vectors of accumulators, whole vectors, unrolled rows, packed reads.
double latency_ns(const Candidate& candidate) {
  const Tiles t = tiles_of(candidate);
  if (t.unroll && t.y >= 48) return 0;  // as if code generation gave up
  const double vectors = std::ceil(static_cast<double>(t.x) / 8);
  const double filled = static_cast<double>(t.x) / (8 * vectors);
  const double accumulators = static_cast<double>(t.y) * vectors;
  double cycles = 1 / filled;
  cycles *= 1 + std::abs(std::log2(accumulators / 12)) * 0.6;
  cycles *= t.unroll ? 1 : 1.5;
  cycles *= 1 + 0.15 * std::abs(std::log2(static_cast<double>(t.k) / 32));
  cycles *= candidate.variant == "packed" ? 1 : 1.25;
  const double chunks = static_cast<double>(kSize / (t.parallel_rows ? t.y : t.x));
  cycles *= std::ceil(chunks / 2) * 2 / chunks;
  return 10'000 * cycles * (1 + 0.02 * noise(candidate.text()));
}

double best_latency_ns(const ScheduleSpace& space) {
  double best = 0;
  for (uint64_t n = 0; n < static_cast<uint64_t>(space.size()); ++n) {
    const Candidate candidate = space.at(n);
    const double latency = space.contains(candidate) ? latency_ns(candidate) : 0;
    if (latency > 0 && (best == 0 || latency < best)) best = latency;
  }
  return best;
}

std::vector<Known> tune(Strategy& strategy, const ScheduleSpace& space, uint64_t seed, size_t trials, size_t batch,
                        std::vector<Known> known) {
  while (known.size() < trials) {
    const auto proposed = strategy.propose({space, known, seed}, std::min(batch, trials - known.size()));
    if (proposed.empty()) break;
    for (const Candidate& candidate : proposed)
      known.push_back({candidate, instantiate(space, candidate)->hash, latency_ns(candidate)});
  }
  return known;
}

double share_reached(const std::vector<Known>& known, double best_ns) {
  double share = 0;
  for (const Known& each : known)
    if (each.latency_ns > 0) share = std::max(share, best_ns / each.latency_ns);
  return share;
}

}  // namespace farm::synthetic
