// The loop-nest IR: one kernel as a tree of statements.
//
// It has two levels, told apart by the verifier:
//  - scheduled: Blocks with iteration domains, multi-dimensional accesses, any loop kind. Primitives work here.
//  - lowered:   no Blocks; every buffer is one-dimensional (one flat index); vector loops are gone (Ramp, Broadcast and
//               lanes instead), unrolled loops are expanded; loops are Serial or Parallel. Code generators read this.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "tensor/tensor.h"

namespace farm {

struct StmtNode;
using Stmt = std::shared_ptr<const StmtNode>;

enum class LoopKind : uint8_t { Serial, Parallel, Vectorized, Unrolled, ThreadBinding };

/// for var in 0 .. extent
struct For {
  Var var;
  Expr extent;
  LoopKind kind = LoopKind::Serial;
  std::string thread;  ///< ThreadBinding: "blockIdx.x" ...
  Stmt body;
};

enum class IterKind : uint8_t { Spatial, Reduce };

/// One axis of a block's iteration domain and the expression over outer loops that it is bound to.
struct IterVar {
  Var var;
  int64_t extent = 1;
  IterKind kind = IterKind::Spatial;
  Expr binding;
};

/// A box of a buffer: in each dimension `extent` elements from `min` on.
struct Region {
  Buffer buffer;
  std::vector<Expr> min;
  std::vector<int64_t> extent;
};

/// The unit that primitives name: `body` runs once for each point of the domain for which `predicate` holds.
/// A reduction has `init`, run at the first point of its reduce axes.
struct Block {
  std::string name;
  std::vector<IterVar> iters;
  Expr predicate;  ///< over outer loops; null when always true
  std::vector<Region> reads, writes;
  Stmt init;       ///< null when the block does not reduce
  Stmt body;
};

struct Seq {
  std::vector<Stmt> stmts;
};
struct Store {
  Buffer buffer;
  std::vector<Expr> indices;  ///< lowered: one flat index
  Expr value;
  Expr mask;                  ///< lowered: lanes (or the scalar) that are stored; null when all
};
struct If {
  Expr condition;
  Stmt then;
  Stmt otherwise;  ///< may be null
  /// Only saves work: without the condition, `then` would write elements of a local buffer that nothing reads.
  bool droppable = false;
};
/// Lowered: `buffer` (scope Register or Thread) exists inside `body` only. Contents start undefined.
struct Allocate {
  Buffer buffer;
  Stmt body;
};
/// An opaque intrinsic call with the regions that it touches (empty: whole buffers).
struct Evaluate {
  Expr call;
  std::vector<Region> reads, writes;
};

struct StmtNode {
  std::variant<For, Block, Seq, Store, If, Allocate, Evaluate> node;
  template <class T>
  const T* as() const { return std::get_if<T>(&node); }
};

template <class T>
Stmt make_stmt(T node) { return std::make_shared<const StmtNode>(StmtNode{std::move(node)}); }
/// Flattens nested sequences; a single statement stays itself; null entries are dropped.
Stmt make_seq(std::vector<Stmt> stmts);

enum class FunctionRole : uint8_t {
  Run,      ///< what is timed: run(inputs..., packed..., output, workspace)
  Prepack,  ///< once per set of weights: prepack(constants..., packed...)
};

struct Function {
  std::string name;
  FunctionRole role = FunctionRole::Run;
  std::vector<Buffer> params;     ///< scope Global, in call order (workspace is not listed: see Module)
  std::vector<Buffer> workspace;  ///< scope Workspace buffers; lowering gives each an offset in one block
  std::vector<Buffer> locals;     ///< scheduled level: Thread and Register buffers without a place yet
  Stmt body;
};

/// One kernel: a Run function and, when the task has constant operands, a Prepack function.
///
/// ABI of the generated code (see runtime/kernel_abi.h): each function takes a call context and an array of pointers:
///   Run      [non-constant inputs in the task's order..., packed constants (one block), output, workspace]
///   Prepack  [constant inputs in the task's order..., packed constants]
/// Workspace and packed are one block each, 64-byte aligned; the buffers in `workspace` lie at `workspace_offsets`.
struct Module {
  std::vector<Function> functions;
  std::vector<Buffer> inputs;          ///< non-constant inputs
  std::vector<Buffer> constants;       ///< constant inputs (plain row-major)
  std::vector<Buffer> packed;          ///< what prepack makes of them; one a constant input
  std::vector<int64_t> packed_offsets; ///< bytes from the start of the packed block
  int64_t packed_bytes = 0;
  Buffer output;
  std::vector<int64_t> workspace_offsets;  ///< of the Run function's `workspace`, in bytes
  int64_t workspace_bytes = 0;
  double flops = 0;

  const Function& run() const { return functions.front(); }
  const Function* prepack() const { return functions.size() > 1 ? &functions[1] : nullptr; }
};

std::string to_string(const Stmt& stmt);
std::string to_string(const Module& module);

/// Rebuilds bottom-up, as for expressions; a null result keeps the node.
Stmt rewrite_stmt(const Stmt& stmt, const std::function<Stmt(const Stmt&)>& rewrite);
/// Applies `rewrite` to every expression of the tree.
Stmt rewrite_exprs(const Stmt& stmt, const std::function<Expr(const Expr&)>& rewrite);
/// Parents first.
void visit_stmt(const Stmt& stmt, const std::function<void(const Stmt&)>& visitor);
/// Every expression at the top of a statement (extents, indices, values, conditions), outermost first.
void visit_exprs(const Stmt& stmt, const std::function<void(const Expr&)>& visitor);

/// Identity of a lowered program: equal text means equal code, so it is measured once.
Hash module_hash(const Module& module);

}  // namespace farm
