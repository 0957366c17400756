// Everything that a search bred in one batch, each candidate once, the best predicted first.
#pragma once
#include <string>
#include <unordered_set>
#include <vector>

#include "tuner/family.h"
#include "tuner/guide.h"
#include "tuner/novelty.h"

namespace farm {

class BreedingPool {
 public:
  struct Member {
    Candidate candidate;
    std::string text;
    std::string family;
    double score = 0;
    bool by_nest = false;  ///< the nest had its say in the score
  };

  /// Borrows the guide, which has to be ready.
  BreedingPool(const ScheduleSpace& space, Guide& guide, const std::vector<Candidate>& first_generation);

  /// Takes those that are not here yet, scored by their choices.
  void add(const std::vector<Candidate>& candidates);
  /// Looks at the nests of the first `count` that nobody measured and whose nest was not looked at yet, at most
  /// `each_family` of a family.
  void look_closer(const Novelty& novelty, size_t count, size_t each_family);

  const std::vector<Member>& best_first() const { return members_; }
  /// By rank, the first ones most often: at `spread` the chance has fallen to 1/e.
  const Candidate& parent(Rng& rng, double spread) const;

 private:
  void sort_best_first();

  const ScheduleSpace& space_;
  Guide& guide_;
  Families families_;
  std::unordered_set<std::string> texts_;
  std::vector<Member> members_;
};

}  // namespace farm
