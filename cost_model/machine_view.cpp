#include "cost_model/machine_view.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace farm {

Annotations annotate(const StoreFacts& facts, const Target& target) {
  Annotations a;
  a.tile = facts.loops.size();
  bool straight = true;
  for (size_t i = facts.loops.size(); i-- > 0;) {
    const LoopSite& loop = facts.loops[i];
    const double extent = static_cast<double>(loop.extent);
    const bool vector = loop.kind == LoopKind::Vectorized, unrolled = loop.kind == LoopKind::Unrolled;
    if (vector && a.vector_loop < 0) a.vector_loop = static_cast<int>(i), a.vector_extent = extent;
    if (unrolled) a.unrolled *= extent;
    if (loop.kind == LoopKind::Parallel) {
      if (a.parallel_loop < 0) a.parallel_loop = static_cast<int>(i);
      a.parallel_extent *= extent;
    }
    straight = straight && (vector || unrolled || loop.extent == 1);
    if (straight) a.tile = i;
  }
  if (a.vector_loop >= 0) a.vectors = std::ceil(a.vector_extent / target.float_lanes());
  return a;
}

namespace {

double vectors_of(double elements, const Target& target) { return std::ceil(elements / target.float_lanes()); }

void count_loads(const Annotations& a, const BufferUse& use, const Target& target, Tile& tile) {
  if (!use.reads) return;
  for (const auto& terms : use.accesses) {
    const double elements = footprint(*use.buffer, terms, static_cast<int>(a.tile)).elements;
    const int64_t stride = a.vector_loop < 0 ? 0 : stride_of(terms, a.vector_loop);
    if (stride == 0)
      tile.broadcasts += elements;
    else if (std::abs(stride) == 1)
      tile.loads += std::max(vectors_of(elements, target), a.vectors);
    else
      tile.gathers += elements;
  }
}

}  // namespace

Tile look_at_tile(const StoreFacts& facts, const Annotations& a, const Target& target) {
  Tile tile;
  tile.steps = facts.trip_count(a.tile, facts.loops.size());
  tile.fmas = std::max(facts.ops.fma, facts.ops.add) * tile.steps / a.vector_extent * a.vectors;
  for (const BufferUse& use : facts.buffers) {
    if (use.in_memory())
      count_loads(a, use, target, tile);
    else
      tile.accumulators += vectors_of(static_cast<double>(element_count(use.buffer->shape)), target);
  }
  return tile;
}

namespace {

double traffic_of(const StoreFacts& facts, const BufferUse& use, size_t fits_from) {
  if (fits_from == 0) return use.bytes(0);
  const int repeated = static_cast<int>(fits_from) - 1;
  const bool stays = std::ranges::none_of(use.accesses, [&](const auto& terms) { return moves_with(terms, repeated); });
  // What does not move with the first loop that no longer fits is still there when it comes round.
  return use.bytes(fits_from) * facts.trip_count(0, stays ? fits_from - 1 : fits_from);
}

}  // namespace

CacheView look_at_cache(const StoreFacts& facts, double capacity_bytes, double threads_used) {
  CacheView view;
  view.fits_from = facts.loops.size();
  while (view.fits_from > 0 && facts.memory_bytes(view.fits_from - 1) <= capacity_bytes) --view.fits_from;
  view.share = ratio_of(facts.memory_bytes(view.fits_from), capacity_bytes);
  for (size_t i = 0; i < facts.buffers.size(); ++i) {
    if (!facts.buffers[i].in_memory()) continue;
    const double traffic = traffic_of(facts, facts.buffers[i], view.fits_from) / threads_used;
    if (i < kFeatureBuffers) view.traffic[i] = traffic;
    view.total += traffic;
  }
  return view;
}

}  // namespace farm
