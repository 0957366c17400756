#include "tuner/grid_search.h"

namespace farm {

std::vector<Candidate> GridSearch::propose(const SearchState& state, size_t count) {
  follow(state.space);
  Novelty novelty(state, programs_);
  std::vector<Candidate> found;
  for (size_t rank = 0; found.size() < count; ++rank) {
    std::optional<Candidate> candidate = allowed(state.space, rank);
    if (!candidate) break;
    if (novelty.unseen(*candidate) && novelty.take(*candidate)) found.push_back(std::move(*candidate));
  }
  return found;
}

void GridSearch::follow(const ScheduleSpace& space) {
  if (space_ == &space) return;
  space_ = &space;
  allowed_positions_.clear();
  scanned_ = 0;
}

std::optional<Candidate> GridSearch::allowed(const ScheduleSpace& space, size_t rank) {
  while (allowed_positions_.size() <= rank) {
    if (static_cast<double>(scanned_) >= space.size()) return std::nullopt;
    if (space.contains(space.at(scanned_))) allowed_positions_.push_back(scanned_);
    ++scanned_;
  }
  return space.at(allowed_positions_[rank]);
}

}  // namespace farm
