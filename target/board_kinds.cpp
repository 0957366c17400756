#include <algorithm>

#include "target/board.h"
#include "target/tables.h"
#include "target/target.h"
#include "target_board_kinds.h"

namespace farm {

std::span<const BoardKind> board_kinds() { return kBoardKinds; }

Status check_key_kind(std::string_view what, std::string_view key, const Target& target) {
  auto kind = std::ranges::find(kBoardKinds, key, &BoardKind::name);
  if (kind == std::end(kBoardKinds) || kind->isa.empty()) return {};
  // A board's accelerator or GPU, whose ISA is no CPU's, may well be called like its board.
  if (!find_level(target.isa) || isa_family(kind->isa) == isa_family(target.isa)) return {};
  return fail(ErrorCode::InvalidArgument, what, " ", key, " means a known board of ", isa_family(kind->isa),
              ", and this device is ", target.text(), "; choose another key such as my-", key);
}

}  // namespace farm
