// Who wins among finals that a measurement could not tell apart.
#pragma once
#include <span>
#include <string>

#include "tuning_db/store.h"

namespace farm {

/// Decisions in which a candidate differs from the default one; all of them, and the variant, when that is another.
/// The length of the text when one of the two cannot be read.
size_t distance_from_default(const std::string& candidate, const std::string& fallback);

/// `ties` are finals that all tie with the first, which is the fastest. The nearest to the default schedule wins: a
/// difference that nobody can measure is no reason to leave it. Then the shortest text, then the first in the alphabet.
const Record& simplest_of(std::span<const Record> ties, const std::string& fallback);

}  // namespace farm
