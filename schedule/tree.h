// Finding one's way in a loop nest: what lies where, around what.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "schedule/arith.h"
#include "schedule/loop_nest.h"

namespace farm {

/// The statements from the root down to (and with) the wanted one; empty when it is not there.
std::vector<Stmt> path_to(const Stmt& root, const std::function<bool(const Stmt&)>& wanted);
std::vector<Stmt> path_to_loop(const Stmt& root, const Var& loop);
std::vector<Stmt> path_to_block(const Stmt& root, const std::string& block);

/// Puts `replacement` (null: nothing) in the place of the statement `old`, found by address.
Stmt replace_stmt(const Stmt& root, const Stmt& old, const Stmt& replacement);

/// 0 .. extent-1 of a loop of constant extent.
Interval loop_range(const For& loop);
/// Bounds of the loops among `path`.
VarBounds bounds_of_path(const std::vector<Stmt>& path);

/// All blocks under a statement.
std::vector<const Block*> blocks_under(const Stmt& stmt);
/// Loads of `buffer` in a block's body.
std::vector<Expr> loads_of(const Stmt& stmt, const Buffer& buffer);
/// The one store of a block.
const Store& store_of(const Block& block);
/// Reads and writes as point regions of the block's body, for printing and for whoever wants to know.
void fill_regions(Block& block);

/// The tree without those conjuncts of its Ifs that are known to hold.
Stmt without_conditions(const Stmt& stmt, const std::vector<Expr>& certain);

VarMap bindings_of(const Block& block);

}  // namespace farm
