#include "cost_model/features.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "cost_model/machine_view.h"

namespace farm {
namespace {

constexpr size_t kIntensitySamples = 10;

// One function writes both the names and the values, so that they cannot get out of step.
class ColumnSink {
 public:
  ColumnSink(std::vector<float>& values, std::vector<std::string>* names) : values_(values), names_(names) {}

  void set_prefix(const char* prefix, size_t number) {
    if (names_) prefix_ = prefix + std::to_string(number) + "_";
  }
  void clear_prefix() { prefix_.clear(); }

  void size(const char* name, double x) { ratio(name, std::log2(1 + std::max(0.0, x))); }
  void ratio(const char* name, double x) {
    values_.push_back(static_cast<float>(x));
    if (names_) names_->push_back(prefix_ + name);
  }
  void flag(const char* name, bool x) { ratio(name, x ? 1 : 0); }

 private:
  std::vector<float>& values_;
  std::vector<std::string>* names_;
  std::string prefix_;
};

void write_work(ColumnSink& sink, const StoreFacts& facts) {
  const double n = facts.iterations();
  const OpCounts& ops = facts.ops;
  sink.size("work", n * (ops.floats() + 1));
  sink.size("iterations", n);
  sink.size("float_add", n * ops.add);
  sink.size("float_mul", n * ops.mul);
  sink.size("float_fma", n * ops.fma);
  sink.size("float_div", n * ops.div);
  sink.size("float_min_max", n * ops.min_max);
  sink.size("compare", n * ops.compare);
  sink.size("select", n * ops.select);
  sink.size("call", n * ops.call);
  sink.size("integer", n * ops.integer);
}

double extent_at(const StoreFacts& facts, int loop) {
  return loop < 0 ? 0 : static_cast<double>(facts.loops[static_cast<size_t>(loop)].extent);
}

// Loops that the stored element does not move with.
double reduction_steps(const StoreFacts& facts, bool innermost_only) {
  double steps = 1;
  for (size_t i = facts.loops.size(); i-- > 0;) {
    bool moves = false;
    for (const BufferUse& use : facts.buffers)
      if (use.writes) moves = moves_with(use.accesses.front(), static_cast<int>(i));
    if (moves || facts.loops[i].kind == LoopKind::Parallel) continue;
    steps *= static_cast<double>(facts.loops[i].extent);
    if (innermost_only && facts.loops[i].extent > 1) break;
  }
  return steps;
}

void write_loops(ColumnSink& sink, const StoreFacts& facts, const Annotations& a, const Target& target, int threads) {
  const double from_inside = static_cast<double>(facts.loops.size());
  const double per_thread = a.parallel_extent / threads;
  sink.ratio("depth", from_inside);
  sink.ratio("guards", facts.guards);
  sink.size("innermost_extent", facts.loops.empty() ? 1 : static_cast<double>(facts.loops.back().extent));
  sink.size("vector_extent", a.vector_loop < 0 ? 0 : a.vector_extent);
  sink.ratio("vector_position", a.vector_loop < 0 ? -1 : from_inside - 1 - a.vector_loop);
  sink.ratio("vector_filled", a.vector_extent / (a.vectors * target.float_lanes()));
  sink.size("unrolled_product", a.unrolled);
  sink.size("parallel_extent", a.parallel_loop < 0 ? 0 : a.parallel_extent);
  sink.ratio("parallel_position", a.parallel_loop);
  sink.size("parallel_chunk",
            a.parallel_loop < 0 ? 0 : facts.trip_count(static_cast<size_t>(a.parallel_loop) + 1, facts.loops.size()));
  sink.ratio("parallel_balance", ratio_of(per_thread, std::ceil(per_thread)));
  sink.ratio("threads", threads);
  sink.size("outside_tile", facts.trip_count(0, a.tile));
  sink.size("loop_around_tile", a.tile == 0 ? 0 : extent_at(facts, static_cast<int>(a.tile) - 1));
  sink.size("reduction_steps", reduction_steps(facts, false));
  sink.size("reduction_innermost", reduction_steps(facts, true));
}

void write_tile(ColumnSink& sink, const Tile& tile, const Target& target) {
  const double registers = target.vector_registers;
  const double loads = tile.loads + tile.broadcasts + tile.gathers;
  sink.size("tile_steps", tile.steps);
  sink.size("tile_fmas", tile.fmas);
  sink.size("tile_loads", tile.loads);
  sink.size("tile_broadcasts", tile.broadcasts);
  sink.size("tile_gathers", tile.gathers);
  sink.ratio("tile_fmas_per_load", std::min(64.0, ratio_of(tile.fmas, loads)));
  sink.size("accumulators", tile.accumulators);
  sink.ratio("accumulators_of_registers", std::min(16.0, tile.accumulators / registers));
  sink.size("registers_missing", tile.accumulators + 2 - registers);
}

void write_caches(ColumnSink& sink, const StoreFacts& facts, const std::array<CacheView, kCacheLevels>& caches) {
  for (size_t level = 0; level < kCacheLevels; ++level) {
    sink.set_prefix("l", level + 1);
    sink.ratio("fits_from", static_cast<double>(facts.loops.size() - caches[level].fits_from));
    sink.ratio("filled", std::min(4.0, caches[level].share));
    sink.size("traffic_bytes", caches[level].total);
  }
  sink.clear_prefix();
}

// Work for each byte touched, sampled from the innermost loop to the whole nest.
void write_intensity(ColumnSink& sink, const StoreFacts& facts) {
  const size_t loops = facts.loops.size();
  for (size_t i = 0; i < kIntensitySamples; ++i) {
    const size_t depth = loops - loops * (i + 1) / kIntensitySamples;
    const double work = facts.trip_count(depth, loops) * facts.ops.floats();
    sink.set_prefix("intensity", i);
    sink.size("flops_per_byte", ratio_of(work, facts.memory_bytes(depth)));
  }
  sink.clear_prefix();
}

// Shortest times by which the parts of the machine bound the store, in rough cycles a thread.
void write_bounds(ColumnSink& sink, const StoreFacts& facts, const Annotations& a, const Tile& tile,
                  const std::array<CacheView, kCacheLevels>& caches, int threads) {
  const double used = std::max(1.0, std::min<double>(threads, a.parallel_extent));
  const double waves = std::ceil(a.parallel_extent / used) * used / a.parallel_extent;
  const double tiles = facts.trip_count(0, a.tile) / used * waves;
  const double fma = tiles * std::max(tile.fmas, 1.0) / 2;
  const double load = tiles * (tile.loads + tile.broadcasts + tile.gathers) / 2;
  const double l2 = caches[0].total * waves / 32, l3 = caches[1].total * waves / 16,
               memory = caches[2].total * waves / 6;
  sink.size("bound_fma", fma);
  sink.size("bound_load", load);
  sink.size("bound_l2", l2);
  sink.size("bound_l3", l3);
  sink.size("bound_memory", memory);
  sink.size("bound_any", std::max({fma, load, l2, l3, memory}));
}

void write_output(ColumnSink& sink, const StoreFacts& facts) {
  const BufferNode& buffer = *facts.store->buffer;
  const double elements = static_cast<double>(element_count(buffer.shape));
  sink.size("output_bytes", elements * buffer.dtype.bits / 8);
  sink.ratio("output_scope", static_cast<double>(buffer.scope));
  sink.size("output_per_outer", ratio_of(facts.iterations(), elements));
}

void write_buffer(ColumnSink& sink, const StoreFacts& facts, const BufferUse* use, const Annotations& a, size_t slot,
                  const std::array<CacheView, kCacheLevels>& caches) {
  sink.set_prefix("buffer", slot);
  static const BufferUse none{.buffer = make_buffer("none", kFloat32, {1}), .at_depth = {{0, 0}}};
  const bool there = use != nullptr;
  if (!there) use = &none;
  const std::vector<IndexTerm> no_terms;
  const auto& terms = use->accesses.empty() ? no_terms : use->accesses.front();
  const int64_t vector_stride = a.vector_loop < 0 ? 0 : std::abs(stride_of(terms, a.vector_loop));
  const double innermost =
      facts.loops.empty() ? 0
                          : static_cast<double>(std::abs(stride_of(terms, static_cast<int>(facts.loops.size()) - 1)));
  const double unique = use->at_depth[0].elements * use->element_bytes();
  sink.flag("reads", use->reads);
  sink.flag("writes", use->writes);
  sink.ratio("scope", there ? static_cast<double>(use->buffer->scope) : -1);
  sink.size("bytes", there ? facts.iterations() * use->element_bytes() * static_cast<double>(use->accesses.size()) : 0);
  sink.size("unique_bytes", unique);
  sink.size("lines", use->at_depth[0].lines);
  sink.ratio("line_use", ratio_of(unique, use->at_depth[0].lines * 64));
  sink.flag("reuse_in_loop", use->reuse_in_loop);
  sink.flag("reuse_in_series", use->reuse_in_series);
  sink.size("reuse_count", use->reuse_count);
  sink.size("reuse_distance_iterations", use->reuse_distance_iterations);
  sink.size("reuse_distance_bytes", use->reuse_distance_bytes);
  sink.size("innermost_stride", innermost);
  sink.size("vector_stride", static_cast<double>(vector_stride));
  sink.flag("vector_contiguous", vector_stride == 1);
  sink.flag("vector_broadcast", there && a.vector_loop >= 0 && vector_stride == 0);
  sink.size("l1_traffic", slot < kFeatureBuffers ? caches[0].traffic[slot] : 0);
  sink.size("l2_traffic", slot < kFeatureBuffers ? caches[1].traffic[slot] : 0);
  sink.clear_prefix();
}

void write_row(ColumnSink& sink, const StoreFacts& facts, const Target& target, int threads) {
  const Annotations annotations = annotate(facts, target);
  const Tile tile = look_at_tile(facts, annotations, target);
  const double used = std::max(1.0, std::min<double>(threads, annotations.parallel_extent));
  const std::array caches{
      look_at_cache(facts, static_cast<double>(target.l1_bytes), used),
      look_at_cache(facts, static_cast<double>(target.l2_bytes), used),
      look_at_cache(facts, static_cast<double>(target.l3_bytes) / used, used),  // shared
  };
  write_work(sink, facts);
  write_loops(sink, facts, annotations, target, threads);
  write_tile(sink, tile, target);
  write_caches(sink, facts, caches);
  write_bounds(sink, facts, annotations, tile, caches, threads);
  write_intensity(sink, facts);
  write_output(sink, facts);
  for (size_t slot = 0; slot < kFeatureBuffers; ++slot)
    write_buffer(sink, facts, slot < facts.buffers.size() ? &facts.buffers[slot] : nullptr, annotations, slot, caches);
}

// An empty nest with one store: enough to ask the writer for its names.
std::vector<std::string> ask_for_names() {
  const Store store{make_buffer("none", kFloat32, {1}), {}, {}, {}};
  StoreFacts facts;
  facts.store = &store;
  std::vector<float> values;
  std::vector<std::string> names;
  ColumnSink sink(values, &names);
  write_row(sink, facts, Target{}, 1);
  return names;
}

}  // namespace

const std::vector<std::string>& feature_names() {
  static const std::vector<std::string> names = ask_for_names();
  return names;
}

std::vector<float> feature_row(const StoreFacts& facts, const Target& target, int threads) {
  std::vector<float> row;
  row.reserve(feature_names().size());
  ColumnSink sink(row, nullptr);
  write_row(sink, facts, target, std::max(1, threads));
  return row;
}

FeatureRows extract_features(const Module& module, const Target& target, int threads) {
  FeatureRows rows;
  for (const StoreFacts& facts : store_facts(module)) rows.push_back(feature_row(facts, target, threads));
  return rows;
}

}  // namespace farm
