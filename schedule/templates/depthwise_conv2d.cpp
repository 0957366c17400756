// depthwise_conv2d: vectors along a row of pixels, a few rows at a time in registers; strided rows are staged apart by
// phase. There is little to reuse, so what matters is that every load is contiguous and channels are spread evenly.
#include <algorithm>

#include "schedule/templates/templates.h"
#include "schedule/templates/tiling.h"

namespace farm {
namespace {

struct Depthwise {
  std::shared_ptr<const Compute> compute;
  int64_t n, k, y, x, r, s, stride_w;
  bool padded;
  std::string source;
  Target target;
  int threads;
};

Depthwise describe_depthwise(const TemplateInput& input) {
  const Stage& out = input.compute->stages.back();
  bool padded = input.compute->stages.size() > 1;
  return {input.compute,
          out.axes[0].extent, out.axes[1].extent, out.axes[2].extent, out.axes[3].extent,
          out.reduce[0].extent, out.reduce[1].extent,
          window_attribute(input.task, "stride", 1).second,
          padded, padded ? input.compute->stages[0].output->name : "data",
          input.target, input.threads};
}

Result<Module> schedule_rows(const Depthwise& d, const Candidate& c, std::vector<std::string>& trace) {
  int lanes = d.target.float_lanes();
  Schedule s(*d.compute);
  Layout layout{{0}, {1}, {2}};
  if (d.stride_w > 1) layout.insert(layout.end(), {{3, 1, d.stride_w}, {3, d.stride_w}});
  else layout.push_back({3});
  std::string copy = s.cache_read("out", d.source, Scope::Workspace, layout);
  if (d.padded) s.compute_inline(d.source);
  std::string write = s.cache_write("out", Scope::Register, {0, 1, 2, 3});

  auto l = s.loops("out");  // n k y x r s
  if (s.failed()) return s.finish();
  auto [kc, ki] = s.split(l[1], c.choice("k_chunk"));
  auto [yc, yi] = s.split(l[2], c.choice("y_chunk") * c.choice("y_tile"));
  auto [yo, yt] = s.split(yi, c.choice("y_tile"));
  auto [xo, xt] = s.split_whole(l[3], c.choice("x_vectors") * lanes);
  s.reorder({l[0], kc, yc, ki, yo, xo, l[4], l[5], yt, xt});
  Var chunk = s.fuse({l[0], kc, yc});
  if (d.threads > 1) s.parallel(chunk);
  if (c.choice("unroll") >= 1 && d.s > 1) s.unroll(l[5]);
  if (c.choice("unroll") >= 2 && d.r > 1) s.unroll(l[4]);
  s.reverse_compute_at(write, xo);
  for (const std::string& name : {write, std::string("out")}) {
    auto loops = s.loops(name);
    if (s.failed()) return s.finish();
    s.unroll(loops[loops.size() - 2]);
    auto [vectors, lane] = s.split(loops.back(), lanes);
    s.unroll(vectors);
    s.vectorize(lane);
  }
  s.decompose_reduction("out", l[4]);
  s.compute_at(copy, c.choice("stage") == 0 ? chunk : ki);
  vectorize_last(s, copy, lanes);
  trace = s.trace();
  return s.finish();
}

Variant rows(const Depthwise& d) {
  int lanes = d.target.float_lanes();
  Variant variant;
  variant.name = "rows";
  variant.decisions = {
      {"x_vectors", up_to({1, 2, 3, 4, 7}, std::max<int64_t>(1, (d.x + lanes - 1) / lanes))},
      {"y_tile", up_to({1, 2, 3, 4, 7}, d.y)},
      {"k_chunk", up_to({1, 2, 4, 8, 16, 32}, d.k)},
      {"y_chunk", up_to({1, 2, 4, 7, 8, 14, 28, 56, 112}, d.y, 112)},
      {"stage", {0, 1}},
      {"unroll", {0, 1, 2}},
  };
  variant.allowed = [d](const Candidate& c) {
    // One image row a channel at a time is staged the same way from either loop.
    if (c.choice("k_chunk") == 1 && c.choice("stage") == 1) return false;
    return c.choice("x_vectors") * c.choice("y_tile") + 2 <= d.target.vector_registers;
  };
  variant.apply = [d](const Candidate& c, std::vector<std::string>& trace) { return schedule_rows(d, c, trace); };
  return variant;
}

Candidate default_candidate(const Depthwise& d, const Variant& variant) {
  auto at_most = [&](const std::string& name, int64_t limit) {
    int64_t best = 1;
    for (int64_t o : options_of(variant, name)) if (o <= limit) best = o;
    return best;
  };
  int64_t y_tile = at_most("y_tile", 2), x_vectors = at_most("x_vectors", 4);
  int64_t y_chunk = at_most("y_chunk", std::max<int64_t>(1, d.y / y_tile));
  int64_t k_chunk = at_most("k_chunk", std::max<int64_t>(1, d.n * d.k / (4 * d.threads)));
  return make_candidate(variant, {{"x_vectors", x_vectors}, {"y_tile", y_tile}, {"k_chunk", k_chunk}, {"y_chunk", y_chunk},
                                  {"stage", k_chunk == 1 ? 0 : 1}, {"unroll", 2}});
}

}  // namespace

Result<Template> depthwise_conv2d_template(const TemplateInput& input) {
  Depthwise d = describe_depthwise(input);
  Template made;
  made.variants = {rows(d)};
  made.fallback = default_candidate(d, made.variants[0]);
  return made;
}

}  // namespace farm
