// What code generators call for arithmetic that a small core lacks: division, 64-bit integers and their conversions.
#pragma once
#include <string_view>

namespace farm {

/// The helper of that name; null where this ISA has none.
void* arithmetic_helper(std::string_view name);

}  // namespace farm
