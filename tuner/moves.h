// Steps from candidates to other candidates of the same space. All results are allowed by it.
#pragma once
#include <optional>
#include <vector>

#include "base/rng.h"
#include "schedule/schedule.h"

namespace farm {

/// Changes a decision or two, mostly to the option next to the chosen one; now and then changes the variant. Nothing
/// when a few tries found nothing that is allowed.
std::optional<Candidate> mutate(const ScheduleSpace& space, const Candidate& candidate, Rng& rng);

/// Each decision from one parent or the other; nothing for parents of two variants or when it is not allowed.
std::optional<Candidate> cross(const ScheduleSpace& space, const Candidate& one, const Candidate& other, Rng& rng);

/// Every candidate that differs by one step of one decision.
std::vector<Candidate> neighbours(const ScheduleSpace& space, const Candidate& candidate);

}  // namespace farm
