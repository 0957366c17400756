#include "target/board.h"
#include "target_board_kinds.h"

namespace farm {

std::span<const BoardKind> board_kinds() { return kBoardKinds; }

}  // namespace farm
