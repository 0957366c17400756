// Integer reasoning on index expressions: linear forms, intervals, simplification.
#pragma once
#include <optional>
#include <unordered_map>
#include <vector>

#include "tensor/tensor.h"

namespace farm {

/// An inclusive range of integers; `lo > hi` never occurs.
struct Interval {
  int64_t lo = 0, hi = 0;
  int64_t extent() const { return hi - lo + 1; }
  bool operator==(const Interval&) const = default;
};

/// What is known of the variables in sight. A variable that is not here may be anything.
using VarBounds = std::unordered_map<Var, Interval>;

/// constant + sum coeff * term. A term is a variable or an expression that is not linear (a floor_div, a min ...).
struct LinearForm {
  struct Term {
    Expr expr;
    int64_t coeff;
  };
  std::vector<Term> terms;  ///< in order of first appearance; no zero coefficients, no equal terms
  int64_t constant = 0;

  void add(const Expr& term, int64_t coeff);
  void add(const LinearForm& other, int64_t factor = 1);
  int64_t coeff_of(const Var& var) const;
  /// Whether `var` also occurs inside a term that is no variable itself.
  bool nonlinear_in(const Var& var) const;
};

/// Linear form of an integer expression, with (4*a + b) // 4 and % 4 taken apart where the bounds allow it.
LinearForm linear_form(const Expr& expr, const VarBounds& bounds);
Expr to_expr(const LinearForm& form);

std::optional<Interval> interval_of(const Expr& expr, const VarBounds& bounds);
std::optional<Interval> interval_of(const LinearForm& form, const VarBounds& bounds);

/// Canonical and shorter: integer parts through linear forms, conditions that are certain become true or false,
/// a select with a certain condition becomes its side.
Expr simplify(const Expr& expr, const VarBounds& bounds);

/// `expr` as a symbolic start over the variables outside `inner` and the range that `inner` adds to it.
/// Nothing when the two cannot be told apart.
struct SplitRange {
  LinearForm base;  ///< over outer variables only; constant 0
  Interval offset;
};
std::optional<SplitRange> split_range(const Expr& expr, const VarBounds& outer, const VarBounds& inner);

/// Whether every lane is this constant.
bool is_splat(const Expr& expr, int64_t value);

/// The conjuncts of a condition; empty for null or true.
std::vector<Expr> conjuncts(const Expr& condition);
/// Their conjunction; null when empty.
Expr conjunction(const std::vector<Expr>& conditions);

}  // namespace farm
