// A board's file as a value. Inner header of the room: the only file that knows the JSON library is board_json.cpp.
#pragma once
#include <string_view>

#include "base/result.h"
#include "target/board.h"

namespace farm {

/// Corrupt when it is no JSON, or a field is missing, unknown or of another type. Every field must be there: what is
/// not known is null.
Result<Board> board_from_json(std::string_view text);

}  // namespace farm
