// What "new" means: neither measured before nor, once lowered, equal to a program that was.
#pragma once
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/rng.h"
#include "tuner/strategy.h"

namespace farm {

/// Remembers what candidates become: instantiating costs milliseconds and always gives the same.
class ProgramCache {
 public:
  /// Hash of the lowered program; nothing for a candidate that no program can be made of.
  std::optional<Hash> program(const ScheduleSpace& space, const Candidate& candidate);

 private:
  const ScheduleSpace* space_ = nullptr;
  std::unordered_map<std::string, std::optional<Hash>> hashes_;
};

/// One batch's view of what is known, growing by what it takes. Borrows the cache.
class Novelty {
 public:
  Novelty(const SearchState& state, ProgramCache& programs);

  /// The cheap half: nobody measured or took this candidate.
  bool unseen(const Candidate& candidate) const { return !texts_.contains(candidate.text()); }
  /// True when the candidate is new as a program too; it and its program then count as known.
  bool take(const Candidate& candidate);

 private:
  const ScheduleSpace& space_;
  ProgramCache& programs_;
  std::unordered_set<std::string> texts_;
  std::unordered_set<Hash> hashes_;
};

/// The stream of chance of one batch: another one for another purpose, task or number of known records.
Rng batch_rng(const SearchState& state, std::string_view purpose);

/// Up to `count` new candidates by drawing, and by a scan of the space once draws find nothing new.
std::vector<Candidate> draw_new(const ScheduleSpace& space, Rng& rng, Novelty& novelty, size_t count);

}  // namespace farm
