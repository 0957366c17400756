// conv2d in two ways, both with accumulators in registers over the whole reduction and weights packed once:
//   channels  vectors lie along output channels; pixels are broadcast. Any stride.
//   pixels    vectors lie along a row of pixels; weights are broadcast. Strided rows are staged apart by phase first.
// A convolution with a 1x1 window and stride 1 has no rows: its image is taken as one long row.
#include <algorithm>

#include "schedule/templates/templates.h"
#include "schedule/templates/tiling.h"

namespace farm {
namespace {

struct Conv {
  std::shared_ptr<const Compute> compute;
  int64_t n, k, y, x, c, r, s;  // extents
  int64_t stride_w;
  bool padded;
  std::string source;  // the buffer that the reduction reads
  Target target;
  int threads;
};

int64_t axis_extent(const std::vector<Axis>& axes, size_t i) { return axes[i].extent; }

// 1x1, stride 1, no padding: the same memory as an image of one row.
Result<std::shared_ptr<const Compute>> as_one_row(const TemplateInput& input) {
  Task flat = input.task;
  int64_t height = 1, width = 1;
  for (const auto& [key, value] : flat.attributes) {
    if (key == "height") height = std::stoll(value);
    if (key == "width") width = std::stoll(value);
  }
  for (auto& [key, value] : flat.attributes) {
    if (key == "height") value = "1";
    if (key == "width") value = std::to_string(height * width);
  }
  FARM_TRY(Compute compute, make_compute(flat));
  return std::make_shared<const Compute>(std::move(compute));
}

Result<Conv> describe_conv(const TemplateInput& input) {
  Conv conv;
  conv.compute = input.compute;
  auto stride = window_attribute(input.task, "stride", 1);
  const Stage* out = &input.compute->stages.back();
  bool pointwise = axis_extent(out->reduce, 1) == 1 && axis_extent(out->reduce, 2) == 1;
  bool padded = input.compute->stages.size() > 1;
  if (pointwise && !padded && stride == std::pair<int64_t, int64_t>{1, 1}) {
    FARM_TRY(conv.compute, as_one_row(input));
    out = &conv.compute->stages.back();
  }
  conv.n = axis_extent(out->axes, 0), conv.k = axis_extent(out->axes, 1);
  conv.y = axis_extent(out->axes, 2), conv.x = axis_extent(out->axes, 3);
  conv.c = axis_extent(out->reduce, 0), conv.r = axis_extent(out->reduce, 1), conv.s = axis_extent(out->reduce, 2);
  conv.stride_w = stride.second;
  conv.padded = padded;
  conv.source = padded ? conv.compute->stages[0].output->name : "data";
  conv.target = input.target;
  conv.threads = input.threads;
  return conv;
}

// The staged copy of the input: where it is made and in what layout.
enum Staging : int64_t { kNone = 0, kRoot = 1, kChunk = 2 };

std::vector<int64_t> staging_options(const Conv& conv) {
  if (conv.padded) return {kRoot, kChunk};
  return {kNone, kRoot, kChunk};
}

// Phases of a strided row lie apart, so that neighbours in a vector are neighbours in memory.
Layout staged_layout(const Conv& conv, bool apart, int64_t order) {
  Layout layout = order == 0 ? Layout{{0}, {1}, {2}} : Layout{{0}, {2}, {1}};
  if (apart && conv.stride_w > 1) {
    layout.push_back({3, 1, conv.stride_w});
    layout.push_back({3, conv.stride_w});
  } else {
    layout.push_back({3});
  }
  return layout;
}

std::string stage_input(Schedule& s, const Conv& conv, const Layout& layout) {
  std::string copy = s.cache_read("out", conv.source, Scope::Workspace, layout);
  if (conv.padded) s.compute_inline(conv.source);
  return copy;
}

// Whole staging in its own parallel loop, or the part that a chunk needs inside its loop.
void place_staging(Schedule& s, const Conv& conv, const std::string& copy, int64_t staging, const Var& chunk) {
  if (staging == kChunk) s.compute_at(copy, chunk);
  auto loops = s.loops(copy);
  if (staging == kRoot && conv.threads > 1 && loops.size() >= 4) s.parallel(s.fuse({loops[0], loops[1]}));
  vectorize_last(s, copy, conv.target.float_lanes());
}

struct Nest {
  Var chunk, tile, reduce;  // parallel loop; loop of one register tile; outermost reduce loop
};

// n,kc,yc fused and parallel | panels and pixels in the chosen order | c,r,s | the register tile
Nest arrange(Schedule& s, const Conv& conv, const Candidate& candidate, int64_t k_tile, int64_t y_tile, int64_t x_tile,
             bool x_inner) {
  auto l = s.loops("out");  // n k y x c r s
  if (l.size() != 7) return {};
  auto [ko, kt] = s.split_whole(l[1], k_tile);
  auto [kc, kp] = s.split(ko, candidate.choice("k_chunk"));
  auto [yc, yi] = s.split(l[2], candidate.choice("y_chunk") * y_tile);
  auto [yo, yt] = s.split(yi, y_tile);
  auto [xo, xt] = x_inner ? s.split_whole(l[3], x_tile) : s.split(l[3], x_tile);
  std::vector<Var> order{l[0], kc, yc};
  if (candidate.choice("order") == 0) order.insert(order.end(), {kp, yo, xo});
  else order.insert(order.end(), {yo, xo, kp});
  Var tile = order.back();
  order.insert(order.end(), {l[4], l[5], l[6], yt});
  if (x_inner) order.insert(order.end(), {kt, xt});
  else order.insert(order.end(), {xt, kt});
  s.reorder(order);
  Var chunk = s.fuse({l[0], kc, yc});
  if (conv.threads > 1) s.parallel(chunk);
  int64_t unroll = candidate.choice("unroll");
  if (unroll >= 1 && conv.s > 1) s.unroll(l[6]);
  if (unroll >= 2 && conv.r > 1) s.unroll(l[5]);
  return {chunk, tile, l[4]};
}

// The innermost axis as vectors, everything else of the tile unrolled.
void expand_tile(Schedule& s, const std::string& block, size_t tile_loops, int lanes) {
  auto loops = s.loops(block);
  if (loops.size() < tile_loops) return;
  for (size_t i = loops.size() - tile_loops; i + 1 < loops.size(); ++i) s.unroll(loops[i]);
  auto [vectors, lane] = s.split(loops.back(), lanes);
  s.unroll(vectors);
  s.vectorize(lane);
}

std::vector<Decision> common_decisions(const Conv& conv, int64_t k_tile_min) {
  return {
      {"k_chunk", up_to({1, 2, 4, 8, 16, 32}, std::max<int64_t>(1, conv.k / k_tile_min))},
      {"y_chunk", up_to({1, 2, 3, 4, 7, 8, 14, 16, 28, 32, 56}, conv.y, 56)},
      {"order", {0, 1}},
      {"stage", staging_options(conv)},
      {"layout", {0, 1}},
      {"unroll", conv.r * conv.s > 1 ? std::vector<int64_t>{0, 1, 2} : std::vector<int64_t>{0}},
  };
}

// Without a staged copy the layout does not matter: one spelling of it is enough.
bool sensible(const Candidate& candidate) {
  return candidate.choice("stage") != kNone || candidate.choice("layout") == 0;
}

Variant channels(const Conv& conv) {
  int lanes = conv.target.float_lanes();
  Variant variant;
  variant.name = "channels";
  variant.decisions = {
      {"x_tile", up_to({1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 28}, std::min<int64_t>(conv.x, conv.target.vector_registers))},
      {"y_tile", up_to({1, 2, 3}, conv.y)},
      {"k_vectors", up_to({1, 2, 3, 4}, std::max<int64_t>(1, (conv.k + lanes - 1) / lanes))},
  };
  for (auto& decision : common_decisions(conv, lanes)) variant.decisions.push_back(decision);
  variant.allowed = [conv](const Candidate& c) {
    return sensible(c) && fits_registers({c.choice("x_tile") * c.choice("y_tile"), c.choice("k_vectors")}, conv.target);
  };
  variant.apply = [conv, lanes](const Candidate& c, std::vector<std::string>& trace) -> Result<Module> {
    int64_t k_tile = c.choice("k_vectors") * lanes;
    Schedule s(*conv.compute);
    std::string copy;
    if (c.choice("stage") != kNone) copy = stage_input(s, conv, staged_layout(conv, false, c.choice("layout")));
    s.pack_constant("out", "weight", {{0, k_tile}, {1}, {2}, {3}, {0, 1, k_tile}});
    std::string write = s.cache_write("out", Scope::Register, {0, 2, 3, 1});
    Nest nest = arrange(s, conv, c, k_tile, c.choice("y_tile"), c.choice("x_tile"), false);
    s.reverse_compute_at(write, nest.tile);
    auto w = s.loops(write);  // ..., n k y x
    if (w.size() >= 4) s.reorder({w[w.size() - 2], w[w.size() - 1], w[w.size() - 3]});
    expand_tile(s, write, 3, lanes);
    expand_tile(s, "out", 3, lanes);
    s.decompose_reduction("out", nest.reduce);
    if (!copy.empty()) place_staging(s, conv, copy, c.choice("stage"), nest.chunk);
    trace = s.trace();
    return s.finish();
  };
  return variant;
}

Variant pixels(const Conv& conv) {
  int lanes = conv.target.float_lanes();
  Variant variant;
  variant.name = "pixels";
  variant.decisions = {
      {"k_tile", up_to({1, 2, 3, 4, 6, 8, 12, 14}, conv.k)},
      {"y_tile", up_to({1, 2}, conv.y)},
      {"x_vectors", up_to({1, 2, 3, 4, 7}, std::max<int64_t>(1, (conv.x + lanes - 1) / lanes))},
  };
  for (auto& decision : common_decisions(conv, 1)) variant.decisions.push_back(decision);
  variant.allowed = [conv, lanes](const Candidate& c) {
    bool whole = conv.x % (c.choice("x_vectors") * lanes) == 0;
    bool staged = c.choice("stage") != kNone;
    // Vectors that reach beyond the row, or with a stride, need a staged copy to read from.
    if (!staged && (!whole || conv.stride_w > 1)) return false;
    return sensible(c) && fits_registers({c.choice("k_tile"), c.choice("x_vectors") * c.choice("y_tile")}, conv.target);
  };
  variant.apply = [conv, lanes](const Candidate& c, std::vector<std::string>& trace) -> Result<Module> {
    int64_t k_tile = c.choice("k_tile"), x_tile = c.choice("x_vectors") * lanes;
    Schedule s(*conv.compute);
    std::string copy;
    if (c.choice("stage") != kNone) copy = stage_input(s, conv, staged_layout(conv, true, c.choice("layout")));
    s.pack_constant("out", "weight", {{0, k_tile}, {1}, {2}, {3}, {0, 1, k_tile}});
    std::string write = s.cache_write("out", Scope::Register, {0, 1, 2, 3});
    Nest nest = arrange(s, conv, c, k_tile, c.choice("y_tile"), x_tile, true);
    s.reverse_compute_at(write, nest.tile);
    expand_tile(s, write, 3, lanes);
    expand_tile(s, "out", 3, lanes);
    s.decompose_reduction("out", nest.reduce);
    if (!copy.empty()) place_staging(s, conv, copy, c.choice("stage"), nest.chunk);
    trace = s.trace();
    return s.finish();
  };
  return variant;
}

// Channels as vectors: it works for every shape. The tile from the registers, the chunks from the threads.
Candidate default_candidate(const Conv& conv, const Variant& variant) {
  RegisterTile tile = best_tile(options_of(variant, "x_tile"), options_of(variant, "k_vectors"), conv.x, conv.k, conv.target);
  int64_t panels = (conv.k + tile.vectors * conv.target.float_lanes() - 1) / (tile.vectors * conv.target.float_lanes());
  const auto& k_chunks = options_of(variant, "k_chunk");
  int64_t k_chunk = *std::find_if(k_chunks.rbegin(), k_chunks.rend(), [&](int64_t k) { return k <= std::max<int64_t>(1, panels / 2) || k == 1; });
  int64_t other = conv.n * ((panels + k_chunk - 1) / k_chunk);
  int64_t y_chunk = balanced_block(options_of(variant, "y_chunk"), conv.y, other, conv.threads);
  return make_candidate(variant, {{"x_tile", tile.rows}, {"y_tile", 1}, {"k_vectors", tile.vectors}, {"k_chunk", k_chunk},
                                  {"y_chunk", y_chunk}, {"order", 0}, {"stage", conv.padded ? kChunk : kNone},
                                  {"layout", 0}, {"unroll", conv.s > 1 ? 1 : 0}});
}

}  // namespace

Result<Template> conv2d_template(const TemplateInput& input) {
  FARM_TRY(Conv conv, describe_conv(input));
  Template made;
  made.variants = {channels(conv), pixels(conv)};
  made.fallback = default_candidate(conv, made.variants[0]);
  return made;
}

}  // namespace farm
