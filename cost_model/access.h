// What one load or store touches: its flat index as a sum of strided terms, one a loop.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "schedule/schedule.h"

namespace farm {

/// One loop around a store, outermost first in a nest.
struct LoopSite {
  Var var;
  int64_t extent = 1;
  LoopKind kind = LoopKind::Serial;
};

/// `count` values `stride` elements apart as the loop number `loop` of the nest runs. A fused loop has several terms,
/// one for each floor_div or floor_mod of its variable.
struct IndexTerm {
  int loop = 0;
  int64_t stride = 0;
  int64_t count = 1;
  bool operator==(const IndexTerm&) const = default;
};

/// The terms of a row-major access, by rising |stride|; indices that are not affine are taken at their widest part.
std::vector<IndexTerm> index_terms(const BufferNode& buffer, std::span<const Expr> indices,
                                   std::span<const LoopSite> loops);

/// What an access touches while the loops from number `depth` on run and those outside stand still.
struct Footprint {
  double elements = 1;  ///< distinct ones
  double lines = 1;     ///< distinct cache lines of 64 bytes
};
Footprint footprint(const BufferNode& buffer, std::span<const IndexTerm> terms, int depth);
/// All of a buffer.
Footprint footprint_of_buffer(const BufferNode& buffer);

/// Elements between two neighbouring iterations of a loop; 0 when the access does not move with it.
int64_t stride_of(std::span<const IndexTerm> terms, int loop);
inline bool moves_with(std::span<const IndexTerm> terms, int loop) {
  for (const IndexTerm& term : terms)
    if (term.loop == loop) return true;
  return false;
}

}  // namespace farm
