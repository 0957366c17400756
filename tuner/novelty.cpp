#include "tuner/novelty.h"

#include <algorithm>

namespace farm {
namespace {

// A draw that fails this often in a row means that little is left: then the space is walked through.
constexpr int kMissesInARow = 400;
constexpr double kLargestScan = 1 << 22;

void scan_new(const ScheduleSpace& space, Rng& rng, Novelty& novelty, size_t count, std::vector<Candidate>& found) {
  const auto size = static_cast<uint64_t>(std::min(space.size(), kLargestScan));
  const uint64_t start = size > 0 ? rng.below(size) : 0;
  for (uint64_t i = 0; i < size && found.size() < count; ++i) {
    Candidate candidate = space.at((start + i) % size);
    if (space.contains(candidate) && novelty.unseen(candidate) && novelty.take(candidate))
      found.push_back(std::move(candidate));
  }
}

}  // namespace

std::optional<Hash> ProgramCache::program(const ScheduleSpace& space, const Candidate& candidate) {
  if (space_ != &space) hashes_.clear();
  space_ = &space;
  const auto [entry, is_new] = hashes_.try_emplace(candidate.text());
  if (is_new)
    if (const auto program = instantiate(space, candidate)) entry->second = program->hash;
  return entry->second;
}

Novelty::Novelty(const SearchState& state, ProgramCache& programs) : space_(state.space), programs_(programs) {
  for (const Known& known : state.known) {
    texts_.insert(known.candidate.text());
    if (known.program != Hash{}) hashes_.insert(known.program);  // zero: it never became a program
  }
}

bool Novelty::take(const Candidate& candidate) {
  if (!texts_.insert(candidate.text()).second) return false;
  const auto program = programs_.program(space_, candidate);
  return program && hashes_.insert(*program).second;
}

Rng batch_rng(const SearchState& state, std::string_view purpose) {
  return Rng(state.seed)
      .fork(std::string(purpose) + "/" + state.space.task().text() + "/" + std::to_string(state.known.size()));
}

std::vector<Candidate> draw_new(const ScheduleSpace& space, Rng& rng, Novelty& novelty, size_t count) {
  std::vector<Candidate> found;
  for (int misses = 0; found.size() < count && misses < kMissesInARow;) {
    std::optional<Candidate> candidate = space.sample(rng);
    if (candidate && novelty.unseen(*candidate) && novelty.take(*candidate)) {
      found.push_back(std::move(*candidate));
      misses = 0;
    } else {
      ++misses;
    }
  }
  if (found.size() < count) scan_new(space, rng, novelty, count, found);
  return found;
}

}  // namespace farm
