// The box of a buffer that a set of accesses touches.
#pragma once
#include <vector>

#include "schedule/arith.h"

namespace farm {

struct Box {
  std::vector<Expr> min;
  std::vector<int64_t> extent;
};

/// Collects accesses; the box is symbolic in the outer loops. A dimension in which the accesses cannot be reconciled is
/// taken whole.
class BoxFinder {
 public:
  explicit BoxFinder(const Buffer& buffer) : buffer_(buffer), dims_(buffer->shape.size()) {}
  void add(const std::vector<Expr>& indices, const VarBounds& outer, const VarBounds& inner);
  Box box() const;

 private:
  struct Dim {
    std::optional<SplitRange> range;
    bool whole = false;
  };
  static void add_dim(Dim& dim, std::optional<SplitRange> next);

  Buffer buffer_;
  std::vector<Dim> dims_;
};

}  // namespace farm
