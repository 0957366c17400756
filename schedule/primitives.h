// The schedule primitives: legal rewrites of a loop nest, each of which keeps what it computes.
//
// A Schedule starts as the plain nest of a Compute: one block a stage. Loops are named by their variable, blocks by their
// name. Each primitive checks that it is legal; the first that is not makes the schedule fail: later primitives do
// nothing and `finish` returns the error, so that a template reads as a plain program. Every primitive that ran is one
// line of the trace.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "schedule/arith.h"
#include "schedule/loop_nest.h"

namespace farm {

/// One dimension of a packed layout, made of a source dimension: (index[dim] / divisor) % modulus; modulus 0: none.
/// Blocking channels by 16, KCRS -> K/16,C,R,S,16:  {{0,16},{1},{2},{3},{0,1,16}}.
struct LayoutDim {
  int dim = 0;
  int64_t divisor = 1;
  int64_t modulus = 0;
};
using Layout = std::vector<LayoutDim>;

class Schedule {
 public:
  explicit Schedule(const Compute& compute);

  // Queries -----------------------------------------------------------------------------------------------------
  /// The loops around a block, outermost first.
  std::vector<Var> loops(const std::string& block) const;
  int64_t extent(const Var& loop) const;
  bool failed() const { return error_.has_value(); }
  const std::vector<std::string>& trace() const { return trace_; }
  const Stmt& body() const { return body_; }

  // Loops -------------------------------------------------------------------------------------------------------
  /// (outer, inner) with `factor` inner iterations, at most the extent; guarded when the extent is no multiple of it.
  std::pair<Var, Var> split(const Var& loop, int64_t factor);
  /// The same with exactly `factor` inner iterations, even when the extent is smaller: whole vectors, whole panels.
  std::pair<Var, Var> split_whole(const Var& loop, int64_t factor);
  /// Splits into one loop a factor plus one outermost; inner factors from the right: tile(x, {4, 8}) gives x0, x1<4, x2<8.
  std::vector<Var> tile(const Var& loop, const std::vector<int64_t>& factors);
  /// One loop of both; `inner` must be the only thing in `outer`.
  Var fuse(const Var& outer, const Var& inner);
  Var fuse(const std::vector<Var>& loops);
  /// Puts the loops, which must lie on one chain, in this order; the others keep their places.
  void reorder(const std::vector<Var>& order);
  void vectorize(const Var& loop);
  void unroll(const Var& loop);
  void parallel(const Var& loop);

  // Where blocks and their data live ----------------------------------------------------------------------------
  /// Computes `block` where it is needed inside `loop`: just the part that the blocks in it read.
  void compute_at(const std::string& block, const Var& loop);
  /// Moves the last reader `block` behind its producers inside `loop`: just the part that they have finished there.
  void reverse_compute_at(const std::string& block, const Var& loop);
  /// Puts the expression of `block` in the place of every read of its output.
  void compute_inline(const std::string& block);
  /// `block` writes a new buffer in `scope` whose dimensions are the output's in the order `dims`; a new block, whose
  /// name is returned, copies it to the output.
  std::string cache_write(const std::string& block, Scope scope, const std::vector<int>& dims);
  /// `block` reads a packed copy of `buffer`, made by a new block whose name is returned. Where the layout has more
  /// elements than the source, they are zero.
  std::string cache_read(const std::string& block, const std::string& buffer, Scope scope, const Layout& layout);
  /// The same for a constant operand, done once by the prepack function.
  void pack_constant(const std::string& block, const std::string& buffer, const Layout& layout);
  /// The output of `block` moves to another scope.
  void set_scope(const std::string& block, Scope scope);

  // Reductions --------------------------------------------------------------------------------------------------
  /// Initialises in a block of its own ("<block>_init") just before `loop`, which must hold all reduce loops.
  std::string decompose_reduction(const std::string& block, const Var& loop);

  /// The scheduled module, or the first error: "split(x, 0): the factor must be at least 1".
  Result<Module> finish() const;

 private:
  void reject(const std::string& what, const std::string& why);
  void note(std::string line);
  std::string unique(const std::string& name);
  const For* find_loop(const Var& loop, const std::string& primitive);
  const Block* find_block(const std::string& block, const std::string& primitive);
  std::pair<Buffer, Buffer> repack(const std::string& block, const std::string& buffer, Scope scope,
                                   const Layout& layout, Stmt& copy, std::string& copy_name);
  std::pair<Var, Var> split_by(const Var& loop, int64_t factor, const std::string& what);
  void set_kind(const Var& loop, LoopKind kind, const std::string& primitive);
  void replace_loop(const Var& loop, Stmt replacement);

  Compute compute_;
  Stmt body_;
  std::vector<Stmt> prepack_;
  std::vector<std::pair<Buffer, Buffer>> packed_;  ///< constant operand and what prepack makes of it
  std::vector<Buffer> locals_;
  std::unordered_map<std::string, int> names_;
  std::vector<std::string> trace_;
  std::optional<Error> error_;
};

}  // namespace farm
