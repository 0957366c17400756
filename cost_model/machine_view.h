// A store's nest as the machine meets it: vectors and threads, the straight-line body, and each level of cache.
#pragma once
#include <array>

#include "cost_model/store_facts.h"

namespace farm {

inline constexpr size_t kFeatureBuffers = 5;  ///< buffers that have features of their own
inline constexpr size_t kCacheLevels = 3;

inline double ratio_of(double a, double b) { return b > 0 ? a / b : 0; }

/// How the nest is laid over vectors, unrolled code and threads.
struct Annotations {
  int vector_loop = -1;  ///< innermost vectorised loop
  double vector_extent = 1;
  double vectors = 1;          ///< registers that one run over the vector loop fills
  double unrolled = 1;         ///< product of unrolled extents
  int parallel_loop = -1;      ///< innermost parallel one
  double parallel_extent = 1;  ///< product
  size_t tile = 0;             ///< first loop of the straight-line body: all from here on are unrolled or vectors
};
Annotations annotate(const StoreFacts& facts, const Target& target);

/// The straight-line body: what one pass through it computes, loads and keeps in registers.
struct Tile {
  double steps = 1;  ///< scalar iterations
  double fmas = 0;   ///< vector instructions
  double loads = 0, broadcasts = 0, gathers = 0;
  double accumulators = 0;  ///< vector registers of Register buffers
};
Tile look_at_tile(const StoreFacts& facts, const Annotations& annotations, const Target& target);

/// One cache level: from which depth on a nest stays inside it, and what then crosses its edge.
struct CacheView {
  size_t fits_from = 0;                           ///< loops from here on fit
  double share = 0;                               ///< of the capacity that they fill
  std::array<double, kFeatureBuffers> traffic{};  ///< bytes a thread, by buffer
  double total = 0;
};
CacheView look_at_cache(const StoreFacts& facts, double capacity_bytes, double threads_used);

}  // namespace farm
