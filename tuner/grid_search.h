// Walks through the whole space in its fixed order.
#pragma once
#include "tuner/novelty.h"

namespace farm {

class GridSearch final : public Strategy {
 public:
  std::vector<Candidate> propose(const SearchState& state, size_t count) override;

 private:
  void follow(const ScheduleSpace& space);
  std::optional<Candidate> allowed(const ScheduleSpace& space, size_t rank);

  // Where the allowed candidates lie: a property of the space alone, so remembering it changes no proposal.
  const ScheduleSpace* space_ = nullptr;
  std::vector<uint64_t> allowed_positions_;
  uint64_t scanned_ = 0;
  ProgramCache programs_;
};

}  // namespace farm
