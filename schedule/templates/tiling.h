// What the templates share: options of decisions, register tiles, and choosing one without measuring.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "schedule/primitives.h"
#include "schedule/space.h"

namespace farm {

/// Those of `wanted` that are at most `limit`, and `limit` itself when it is at most `always_up_to`.
std::vector<int64_t> up_to(std::vector<int64_t> wanted, int64_t limit, int64_t always_up_to = 0);

/// "3" gives {3, 3}, "3x5" gives {3, 5}; `fallback` when the task leaves the attribute out.
std::pair<int64_t, int64_t> window_attribute(const Task& task, const std::string& name, int64_t fallback);

/// A register tile of `rows` broadcast values by `vectors` vectors.
struct RegisterTile {
  int64_t rows = 1, vectors = 1;
};

/// Whether accumulators, one row of vectors and a broadcast fit into the registers (two spills are tolerated: a
/// broadcast can come from memory within the multiply-add).
bool fits_registers(const RegisterTile& tile, const Target& target);

/// Share of the FMA peak that a tile can reach, from its loads, its independent accumulators and the padding that
/// `row_extent` and `vector_extent` (in elements) leave in the last tile. Zen and later Intel cores: two FMAs and two
/// vector loads a cycle, four cycles latency.
double tile_efficiency(const RegisterTile& tile, int64_t row_extent, int64_t vector_extent, const Target& target);

/// The best tile by that estimate among the options.
RegisterTile best_tile(const std::vector<int64_t>& rows, const std::vector<int64_t>& vectors, int64_t row_extent,
                       int64_t vector_extent, const Target& target);

/// Largest of `options` that still gives every thread work: ceil(extent/option) * other >= 2 * threads and is balanced
/// best; the smallest option otherwise.
int64_t balanced_block(const std::vector<int64_t>& options, int64_t extent, int64_t other, int threads);

/// The options of a decision that the variant has.
const std::vector<int64_t>& options_of(const Variant& variant, const std::string& name);

/// Candidate of a variant from named choices; every decision must be given.
Candidate make_candidate(const Variant& variant, const std::vector<std::pair<std::string, int64_t>>& choices);

/// Splits the last axis of a copy into vectors of `lanes` and vectorises them.
void vectorize_last(Schedule& schedule, const std::string& block, int lanes);

}  // namespace farm
