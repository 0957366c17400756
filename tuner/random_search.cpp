#include "tuner/random_search.h"

namespace farm {

std::vector<Candidate> RandomSearch::propose(const SearchState& state, size_t count) {
  Novelty novelty(state, programs_);
  Rng rng = batch_rng(state, "random");
  return draw_new(state.space, rng, novelty, count);
}

}  // namespace farm
