// What the choices themselves tell a model, without making a program of them: a thousand times cheaper than a nest.
#pragma once
#include "cost_model/cost_model.h"
#include "schedule/schedule.h"

namespace farm {

/// One row: the variant, then for each variant and decision the number of the chosen option; -1 for other variants'.
FeatureRows choice_features(const ScheduleSpace& space, const Candidate& candidate);

}  // namespace farm
