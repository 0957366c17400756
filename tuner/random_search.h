// Draws by chance: the yardstick for every cleverer search.
#pragma once
#include "tuner/novelty.h"

namespace farm {

class RandomSearch final : public Strategy {
 public:
  std::vector<Candidate> propose(const SearchState& state, size_t count) override;

 private:
  ProgramCache programs_;
};

}  // namespace farm
