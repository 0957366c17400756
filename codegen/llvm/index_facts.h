// What is known about index arithmetic without running it: linear forms and ranges of integers.
//
// Addresses are built from linear forms (outer loops first, the constant last), so that the invariant part is hoisted
// and unrolled accesses differ only in a displacement. Ranges decide which divisions need no sign fix-up.
#pragma once
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "schedule/schedule.h"

namespace farm::codegen {

/// Inclusive; an unknown end lies at +-kFar.
struct Interval {
  static constexpr int64_t kFar = int64_t{1} << 60;
  int64_t low = -kFar, high = kFar;
  static Interval point(int64_t value) { return {value, value}; }
  bool non_negative() const { return low >= 0; }
};

/// sum of coefficient * atom, plus a constant of its own for each lane. Atoms are scalars.
struct Linear {
  struct Term {
    Expr atom;
    int64_t coefficient;
    int depth;  ///< of the innermost loop that the atom changes in
  };
  std::vector<Term> terms;  ///< by depth, outermost first; no coefficient is 0
  std::vector<int64_t> lanes;

  int64_t width() const { return static_cast<int64_t>(lanes.size()); }
  bool constant() const { return terms.empty(); }
  /// All lanes have the same value.
  bool uniform() const;
  /// lane i+1 - lane i when that is the same everywhere.
  std::optional<int64_t> step() const;
};

/// The loop variables in scope.
class IndexFacts {
 public:
  void bind(const Var& var, Interval range, int depth);
  Interval range_of(const Var& var) const;

  /// Of all lanes together.
  Interval interval(const Expr& expr) const;
  Interval interval(const Linear& linear) const;
  /// Nothing when lanes differ by more than constants, or `expr` is no integer.
  std::optional<Linear> linear(const Expr& expr) const;

 private:
  struct Fact {
    Interval range;
    int depth;
  };
  int depth(const Expr& expr) const;
  std::optional<Linear> quotient(const Linear& value, int64_t divisor) const;
  std::optional<Linear> remainder(const Linear& value, int64_t divisor) const;

  std::unordered_map<Var, Fact> facts_;
};

/// a + scale * b.
Linear add_scaled(const Linear& a, const Linear& b, int64_t scale);

int64_t floor_div(int64_t a, int64_t b);
int64_t floor_mod(int64_t a, int64_t b);

}  // namespace farm::codegen
