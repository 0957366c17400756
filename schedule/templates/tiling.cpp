#include "schedule/templates/tiling.h"

#include <algorithm>

#include "base/text.h"

namespace farm {

std::vector<int64_t> up_to(std::vector<int64_t> wanted, int64_t limit, int64_t always_up_to) {
  std::erase_if(wanted, [&](int64_t option) { return option > limit; });
  if (limit <= always_up_to && !std::count(wanted.begin(), wanted.end(), limit)) wanted.push_back(limit);
  if (wanted.empty()) wanted.push_back(1);
  std::sort(wanted.begin(), wanted.end());
  return wanted;
}

std::pair<int64_t, int64_t> window_attribute(const Task& task, const std::string& name, int64_t fallback) {
  for (const auto& [key, value] : task.attributes) {
    if (key != name) continue;
    auto pieces = split(value, 'x');
    int64_t height = parse_int(pieces[0]).value_or(fallback);
    return {height, pieces.size() > 1 ? parse_int(pieces[1]).value_or(fallback) : height};
  }
  return {fallback, fallback};
}

bool fits_registers(const RegisterTile& tile, const Target& target) {
  return tile.rows * tile.vectors + tile.vectors + 1 <= target.vector_registers + 2;
}

static double used_share(int64_t extent, int64_t tile) {
  int64_t padded = (extent + tile - 1) / tile * tile;
  return static_cast<double>(extent) / static_cast<double>(padded);
}

double tile_efficiency(const RegisterTile& tile, int64_t row_extent, int64_t vector_extent, const Target& target) {
  auto accumulators = static_cast<double>(tile.rows * tile.vectors);
  double fma_cycles = accumulators / 2, load_cycles = static_cast<double>(tile.rows + tile.vectors) / 2;
  double latency_cycles = 4;
  double spills = std::max(0.0, accumulators + static_cast<double>(tile.vectors) + 1 - target.vector_registers);
  double cycles = std::max({fma_cycles, load_cycles, latency_cycles}) + spills / 2;
  return fma_cycles / cycles * used_share(row_extent, tile.rows) *
         used_share(vector_extent, tile.vectors * target.float_lanes());
}

RegisterTile best_tile(const std::vector<int64_t>& rows, const std::vector<int64_t>& vectors, int64_t row_extent,
                       int64_t vector_extent, const Target& target) {
  RegisterTile best;
  double best_score = -1;
  for (int64_t r : rows)
    for (int64_t v : vectors) {
      RegisterTile tile{r, v};
      double score = tile_efficiency(tile, row_extent, vector_extent, target);
      if (!fits_registers(tile, target) || score <= best_score) continue;
      best = tile;
      best_score = score;
    }
  return best;
}

int64_t balanced_block(const std::vector<int64_t>& options, int64_t extent, int64_t other, int threads) {
  int64_t best = options.front();
  double best_score = 0;
  for (int64_t option : options) {
    int64_t chunks = (extent + option - 1) / option * other;
    if (chunks < 2 * threads && option != options.front()) continue;
    int64_t rounds = (chunks + threads - 1) / threads;
    double score = static_cast<double>(chunks) / static_cast<double>(rounds * threads) * used_share(extent, option);
    if (score + 0.01 >= best_score) {
      best = option;
      best_score = std::max(score, best_score);
    }
  }
  return best;
}

const std::vector<int64_t>& options_of(const Variant& variant, const std::string& name) {
  auto found = std::find_if(variant.decisions.begin(), variant.decisions.end(), [&](const Decision& d) { return d.name == name; });
  FARM_ASSERT(found != variant.decisions.end(), variant.name, " has no decision ", name);
  return found->options;
}

Candidate make_candidate(const Variant& variant, const std::vector<std::pair<std::string, int64_t>>& choices) {
  Candidate candidate{variant.name, {}};
  for (const auto& decision : variant.decisions) {
    auto given = std::find_if(choices.begin(), choices.end(), [&](const auto& c) { return c.first == decision.name; });
    FARM_ASSERT(given != choices.end(), "no choice for ", decision.name, " of ", variant.name);
    candidate.choices.emplace_back(decision.name, given->second);
  }
  return candidate;
}

void vectorize_last(Schedule& schedule, const std::string& block, int lanes) {
  auto loops = schedule.loops(block);
  if (loops.empty()) return;
  if (schedule.extent(loops.back()) < lanes / 2) return;  // too short to be worth a vector
  auto [outer, lane] = schedule.split(loops.back(), lanes);
  schedule.vectorize(lane);
}

}  // namespace farm
