#include "schedule/arith.h"

#include <algorithm>
#include <limits>

#include "base/result.h"

namespace farm {

void LinearForm::add(const Expr& term, int64_t coeff) {
  if (coeff == 0) return;
  for (size_t i = 0; i < terms.size(); ++i) {
    if (!same_expr(terms[i].expr, term)) continue;
    terms[i].coeff += coeff;
    if (terms[i].coeff == 0) terms.erase(terms.begin() + i);
    return;
  }
  terms.push_back({term, coeff});
}

void LinearForm::add(const LinearForm& other, int64_t factor) {
  for (const auto& term : other.terms) add(term.expr, term.coeff * factor);
  constant += other.constant * factor;
}

int64_t LinearForm::coeff_of(const Var& var) const {
  for (const auto& term : terms)
    if (term.expr->kind == ExprKind::Var && term.expr->var == var) return term.coeff;
  return 0;
}

bool LinearForm::nonlinear_in(const Var& var) const {
  return std::any_of(terms.begin(), terms.end(),
                     [&](const Term& t) { return t.expr->kind != ExprKind::Var && uses_var(t.expr, var); });
}

static int64_t floor_div_int(int64_t a, int64_t b) {
  int64_t q = a / b;
  return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

// The part of a form whose coefficients divide by `divisor` (returned divided) and what remains.
static std::pair<LinearForm, LinearForm> divide(const LinearForm& form, int64_t divisor) {
  LinearForm whole, rest;
  for (const auto& term : form.terms) (term.coeff % divisor == 0 ? whole : rest).terms.push_back(term);
  for (auto& term : whole.terms) term.coeff /= divisor;
  whole.constant = floor_div_int(form.constant, divisor);
  rest.constant = form.constant - whole.constant * divisor;
  return {whole, rest};
}

static bool within(const LinearForm& form, const VarBounds& bounds, int64_t lo, int64_t hi) {
  auto range = interval_of(form, bounds);
  return range && range->lo >= lo && range->hi <= hi;
}

static LinearForm divided(const Expr& expr, const VarBounds& bounds, bool want_quotient) {
  LinearForm numerator = linear_form(expr->args[0], bounds);
  auto divisor = const_int(expr->args[1]);
  LinearForm opaque;
  if (!divisor || *divisor <= 0) {
    opaque.add(binary(expr->kind, to_expr(numerator), to_expr(linear_form(expr->args[1], bounds))), 1);
    return opaque;
  }
  auto [whole, rest] = divide(numerator, *divisor);
  bool small = within(rest, bounds, 0, *divisor - 1);
  if (!want_quotient) {
    if (small) return rest;
    opaque.add(floor_mod(to_expr(rest), int_imm(*divisor)), 1);
    return opaque;
  }
  if (small) return whole;
  Expr inner = to_expr(rest);
  // (a // c1) // c2 = a // (c1 c2)
  if (inner->kind == ExprKind::FloorDiv && const_int(inner->args[1]))
    whole.add(floor_div(inner->args[0], int_imm(*const_int(inner->args[1]) * *divisor)), 1);
  else
    whole.add(floor_div(inner, int_imm(*divisor)), 1);
  return whole;
}

LinearForm linear_form(const Expr& expr, const VarBounds& bounds) {
  LinearForm form;
  switch (expr->kind) {
    case ExprKind::IntImm: form.constant = expr->int_value; return form;
    case ExprKind::Var: form.add(expr, 1); return form;
    case ExprKind::Add:
    case ExprKind::Sub:
      form = linear_form(expr->args[0], bounds);
      form.add(linear_form(expr->args[1], bounds), expr->kind == ExprKind::Add ? 1 : -1);
      return form;
    case ExprKind::Mul: {
      LinearForm a = linear_form(expr->args[0], bounds), b = linear_form(expr->args[1], bounds);
      if (b.terms.empty()) {
        form.add(a, b.constant);
        return form;
      }
      if (a.terms.empty()) {
        form.add(b, a.constant);
        return form;
      }
      form.add(to_expr(a) * to_expr(b), 1);
      return form;
    }
    case ExprKind::FloorDiv: return divided(expr, bounds, true);
    case ExprKind::FloorMod: return divided(expr, bounds, false);
    case ExprKind::Min:
    case ExprKind::Max: {
      LinearForm a = linear_form(expr->args[0], bounds), b = linear_form(expr->args[1], bounds);
      LinearForm difference = a;
      difference.add(b, -1);
      auto range = interval_of(difference, bounds);
      if (range && range->hi <= 0) return expr->kind == ExprKind::Min ? a : b;
      if (range && range->lo >= 0) return expr->kind == ExprKind::Min ? b : a;
      form.add(binary(expr->kind, to_expr(a), to_expr(b)), 1);
      return form;
    }
    default: form.add(simplify(expr, bounds), 1); return form;
  }
}

Expr to_expr(const LinearForm& form) {
  Expr sum = int_imm(0);
  for (const auto& term : form.terms) sum = sum + term.expr * term.coeff;
  return sum + form.constant;
}

static std::optional<Interval> interval_of_term(const Expr& expr, const VarBounds& bounds) {
  if (expr->kind == ExprKind::Var) {
    auto found = bounds.find(expr->var);
    if (found == bounds.end()) return std::nullopt;
    return found->second;
  }
  if (expr->kind == ExprKind::FloorMod) {
    auto divisor = const_int(expr->args[1]);
    if (divisor && *divisor > 0) return Interval{0, *divisor - 1};
  }
  if (expr->kind == ExprKind::FloorDiv) {
    auto divisor = const_int(expr->args[1]);
    auto numerator = interval_of(expr->args[0], bounds);
    if (divisor && *divisor > 0 && numerator)
      return Interval{floor_div_int(numerator->lo, *divisor), floor_div_int(numerator->hi, *divisor)};
  }
  if (expr->kind == ExprKind::Min || expr->kind == ExprKind::Max) {
    auto a = interval_of(expr->args[0], bounds), b = interval_of(expr->args[1], bounds);
    if (!a || !b) return std::nullopt;
    if (expr->kind == ExprKind::Min) return Interval{std::min(a->lo, b->lo), std::min(a->hi, b->hi)};
    return Interval{std::max(a->lo, b->lo), std::max(a->hi, b->hi)};
  }
  return std::nullopt;
}

std::optional<Interval> interval_of(const LinearForm& form, const VarBounds& bounds) {
  Interval range{form.constant, form.constant};
  for (const auto& term : form.terms) {
    auto one = interval_of_term(term.expr, bounds);
    if (!one) return std::nullopt;
    int64_t a = one->lo * term.coeff, b = one->hi * term.coeff;
    range.lo += std::min(a, b);
    range.hi += std::max(a, b);
  }
  return range;
}

std::optional<Interval> interval_of(const Expr& expr, const VarBounds& bounds) {
  return interval_of(linear_form(expr, bounds), bounds);
}

bool is_splat(const Expr& expr, int64_t value) {
  return is_const_int(expr->kind == ExprKind::Broadcast ? expr->args[0] : expr, value);
}

static bool is_index(const Expr& expr) { return expr->dtype == kInt64 && expr->lanes == 1; }

// a < b, a <= b, a == b over integers: true, false, or a canonical comparison.
static Expr simplify_comparison(const Expr& expr, const VarBounds& bounds) {
  LinearForm difference = linear_form(expr->args[0], bounds);
  difference.add(linear_form(expr->args[1], bounds), -1);  // compared with 0
  if (auto range = interval_of(difference, bounds)) {
    switch (expr->kind) {
      case ExprKind::Lt:
        if (range->hi < 0) return bool_imm(true);
        if (range->lo >= 0) return bool_imm(false);
        break;
      case ExprKind::Le:
        if (range->hi <= 0) return bool_imm(true);
        if (range->lo > 0) return bool_imm(false);
        break;
      case ExprKind::Eq:
      case ExprKind::Ne:
        if (range->lo == 0 && range->hi == 0) return bool_imm(expr->kind == ExprKind::Eq);
        if (range->lo > 0 || range->hi < 0) return bool_imm(expr->kind == ExprKind::Ne);
        break;
      default: break;
    }
  }
  int64_t constant = difference.constant;
  difference.constant = 0;
  return binary(expr->kind, to_expr(difference), int_imm(-constant));
}

// The lanes of a vector comparison of a ramp with one value, decided together; null when they differ.
static Expr simplify_lanes(const Expr& expr, const VarBounds& bounds) {
  const Expr &a = expr->args[0], &b = expr->args[1];
  bool less_than = expr->kind == ExprKind::Lt || expr->kind == ExprKind::Le;
  if (!less_than || a->dtype != kInt64) return nullptr;
  auto lane_range = [&](const Expr& e) -> std::optional<std::pair<LinearForm, Interval>> {
    if (e->kind == ExprKind::Broadcast) return std::pair{linear_form(e->args[0], bounds), Interval{0, 0}};
    auto stride = e->kind == ExprKind::Ramp ? const_int(e->args[1]) : std::nullopt;
    if (!stride) return std::nullopt;
    int64_t last = *stride * (e->lanes - 1);
    return std::pair{linear_form(e->args[0], bounds), Interval{std::min<int64_t>(0, last), std::max<int64_t>(0, last)}};
  };
  auto left = lane_range(a), right = lane_range(b);
  if (!left || !right) return nullptr;
  LinearForm difference = left->first;
  difference.add(right->first, -1);
  auto range = interval_of(difference, bounds);
  if (!range) return nullptr;
  int64_t lo = range->lo + left->second.lo - right->second.hi, hi = range->hi + left->second.hi - right->second.lo;
  bool equal_counts = expr->kind == ExprKind::Le;
  if (hi < 0 || (equal_counts && hi == 0)) return broadcast(bool_imm(true), expr->lanes);
  if (lo > 0 || (!equal_counts && lo == 0)) return broadcast(bool_imm(false), expr->lanes);
  return nullptr;
}

Expr simplify(const Expr& expr, const VarBounds& bounds) {
  if (is_index(expr) && expr->kind != ExprKind::Load && expr->kind != ExprKind::Call && expr->kind != ExprKind::Select &&
      expr->kind != ExprKind::Cast)
    return to_expr(linear_form(expr, bounds));
  switch (expr->kind) {
    case ExprKind::Lt:
    case ExprKind::Le:
    case ExprKind::Eq:
    case ExprKind::Ne:
      if (is_index(expr->args[0])) return simplify_comparison(expr, bounds);
      if (Expr decided = expr->lanes > 1 ? simplify_lanes(expr, bounds) : nullptr) return decided;
      break;
    default: break;
  }
  if (expr->args.empty()) return expr;
  std::vector<Expr> args;
  bool changed = false;
  for (const auto& arg : expr->args) {
    args.push_back(simplify(arg, bounds));
    changed |= args.back() != arg;
  }
  if (!changed) return expr;
  switch (expr->kind) {
    case ExprKind::Select: return select(args[0], args[1], args[2]);
    case ExprKind::Cast: return cast(expr->dtype, args[0]);
    case ExprKind::Load:
      if (expr->masked && is_splat(args[1], 1)) return load(expr->buffer, {args[0]});
      return expr->masked ? masked_load(expr->buffer, args[0], args[1]) : load(expr->buffer, args);
    case ExprKind::Call: return call(expr->name, expr->dtype, args);
    case ExprKind::Ramp: return ramp(args[0], args[1], expr->lanes);
    case ExprKind::Broadcast: return broadcast(args[0], expr->lanes);
    case ExprKind::Not: return logical_not(args[0]);
    default: return binary(expr->kind, args[0], args[1]);
  }
}

std::optional<SplitRange> split_range(const Expr& expr, const VarBounds& outer, const VarBounds& inner) {
  VarBounds all = outer;
  all.insert(inner.begin(), inner.end());
  LinearForm form = linear_form(expr, all);
  SplitRange split;
  LinearForm inside;
  inside.constant = form.constant;
  for (const auto& term : form.terms) {
    bool uses_inner = std::any_of(inner.begin(), inner.end(), [&](const auto& v) { return uses_var(term.expr, v.first); });
    (uses_inner ? inside : split.base).terms.push_back(term);
  }
  for (const auto& term : inside.terms) {  // a term that mixes both has no start of its own
    for (const auto& v : outer)
      if (uses_var(term.expr, v.first)) return std::nullopt;
  }
  auto range = interval_of(inside, inner);
  if (!range) return std::nullopt;
  split.offset = *range;
  return split;
}

std::vector<Expr> conjuncts(const Expr& condition) {
  if (!condition || is_const_int(condition, 1)) return {};
  if (condition->kind != ExprKind::And) return {condition};
  auto all = conjuncts(condition->args[0]);
  for (auto& more : conjuncts(condition->args[1])) all.push_back(more);
  return all;
}

Expr conjunction(const std::vector<Expr>& conditions) {
  Expr all;
  for (const auto& condition : conditions) all = all ? logical_and(all, condition) : condition;
  return all;
}

}  // namespace farm
