// Search guided by the cost model: breeds candidates that it predicts to be fast, and measures the best of them.
#pragma once
#include "tuner/guide.h"
#include "tuner/novelty.h"

namespace farm {

class EvolutionarySearch final : public Strategy {
 public:
  std::vector<Candidate> propose(const SearchState& state, size_t count) override;
  std::optional<ModelQuality> model_quality() const override { return guide_.quality(); }
  double learn_seconds() const override { return guide_.learn_seconds(); }

 private:
  Guide guide_;  ///< a function of the records known; kept so that it need not be learned twice
  ProgramCache programs_;
};

}  // namespace farm
