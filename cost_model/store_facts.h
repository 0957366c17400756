// What can be said of one store of a loop nest by looking at it: the material of its features.
#pragma once
#include <vector>

#include "cost_model/access.h"
#include "schedule/schedule.h"
#include "target/target.h"

namespace farm {

/// Operations of one execution of the store, before vectors.
struct OpCounts {
  double add = 0, mul = 0, fma = 0, div = 0, min_max = 0, compare = 0, select = 0, call = 0, integer = 0;
  double floats() const { return add + mul + 2 * fma + div + min_max + call; }
};

/// One buffer as a store uses it.
struct BufferUse {
  Buffer buffer;
  bool reads = false, writes = false;
  std::vector<std::vector<IndexTerm>> accesses;  ///< distinct ones
  std::vector<Footprint> at_depth;               ///< [d]: with the loops from d on running; size loops + 1
  double reuse_distance_iterations = 0, reuse_distance_bytes = 0;
  double reuse_count = 0;
  bool reuse_in_loop = false;    ///< a loop repeats the same accesses
  bool reuse_in_series = false;  ///< another store of the kernel uses it too

  double element_bytes() const { return buffer->dtype.bits / 8.0; }
  bool in_memory() const { return buffer->scope != Scope::Register; }
  double bytes(size_t depth) const { return at_depth[depth].lines * 64; }
};

struct StoreFacts {
  std::vector<LoopSite> loops;  ///< outermost first
  const Store* store = nullptr;
  int guards = 0;  ///< If statements around it
  OpCounts ops;
  std::vector<BufferUse> buffers;  ///< in memory first, by falling unique bytes

  double iterations() const { return trip_count(0, loops.size()); }
  /// Product of the extents of the loops first .. last-1.
  double trip_count(size_t first, size_t last) const;
  /// Bytes (whole lines) of all buffers in memory with the loops from `depth` on running.
  double memory_bytes(size_t depth) const;
};

/// Every store of the timed function, in program order. Constant extents are assumed.
std::vector<StoreFacts> store_facts(const Module& module);

}  // namespace farm
