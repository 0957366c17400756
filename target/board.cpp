#include "target/board.h"

#include <algorithm>

#include "target/board_json.h"
#include "target_board_files.h"

namespace farm {

double Board::peak_gflops() const {
  double sum = 0;
  for (const Cluster& cluster : clusters) sum += cluster.peak_gflops();
  return sum;
}

static std::vector<Board> read_boards() {
  std::vector<Board> boards;
  for (std::string_view text : kBoardFiles) {
    auto board = board_from_json(text);
    FARM_ASSERT(board, board.error().message, " in ", text);  // they are part of the program: a test reads them all
    boards.push_back(*std::move(board));
  }
  return boards;
}

std::span<const Board> known_boards() {
  static const std::vector<Board> boards = read_boards();
  return boards;
}

const Board* find_board(std::string_view name) {
  auto boards = known_boards();
  auto board = std::ranges::find(boards, name, &Board::name);
  return board == boards.end() ? nullptr : &*board;
}

}  // namespace farm
