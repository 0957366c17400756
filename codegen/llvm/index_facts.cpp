#include "codegen/llvm/index_facts.h"

#include <algorithm>

namespace farm::codegen {

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }
int64_t floor_mod(int64_t a, int64_t b) { return a - floor_div(a, b) * b; }

namespace {

int64_t clamp_far(__int128 value) {
  return static_cast<int64_t>(std::clamp<__int128>(value, -Interval::kFar, Interval::kFar));
}

bool far_end(int64_t value) { return value <= -Interval::kFar || value >= Interval::kFar; }

Interval sum(Interval a, Interval b) {
  return {far_end(a.low) || far_end(b.low) ? -Interval::kFar : clamp_far(__int128{a.low} + b.low),
          far_end(a.high) || far_end(b.high) ? Interval::kFar : clamp_far(__int128{a.high} + b.high)};
}

Interval scaled(Interval a, int64_t scale) {
  if (scale == 0) return Interval::point(0);
  const auto at = [&](int64_t end) { return clamp_far(__int128{end} * scale); };
  return scale > 0 ? Interval{at(a.low), at(a.high)} : Interval{at(a.high), at(a.low)};
}

Interval product(Interval a, Interval b) {
  const int64_t corners[] = {clamp_far(__int128{a.low} * b.low), clamp_far(__int128{a.low} * b.high),
                             clamp_far(__int128{a.high} * b.low), clamp_far(__int128{a.high} * b.high)};
  return {*std::min_element(std::begin(corners), std::end(corners)),
          *std::max_element(std::begin(corners), std::end(corners))};
}

Interval divided(Interval a, int64_t divisor) {
  return {far_end(a.low) ? a.low : floor_div(a.low, divisor), far_end(a.high) ? a.high : floor_div(a.high, divisor)};
}

/// Splits into a part whose every coefficient `divisor` divides and the rest, which keeps the constants.
std::pair<Linear, Linear> split_multiples(const Linear& value, int64_t divisor) {
  Linear multiples{{}, std::vector<int64_t>(value.lanes.size(), 0)}, rest{{}, value.lanes};
  for (const auto& term : value.terms) (term.coefficient % divisor == 0 ? multiples : rest).terms.push_back(term);
  return {multiples, rest};
}

bool same_atom(const Expr& a, const Expr& b) {
  if (a == b) return true;
  if (a->kind != b->kind) return false;
  return a->kind == ExprKind::Var ? a->var == b->var : same_expr(a, b);
}

void add_term(Linear& sum, Linear::Term term) {
  const auto same = std::find_if(sum.terms.begin(), sum.terms.end(),
                                 [&](const auto& other) { return same_atom(other.atom, term.atom); });
  if (same == sum.terms.end()) {
    const auto place =
        std::find_if(sum.terms.begin(), sum.terms.end(), [&](const auto& other) { return other.depth > term.depth; });
    sum.terms.insert(place, std::move(term));
    return;
  }
  same->coefficient += term.coefficient;
  if (same->coefficient == 0) sum.terms.erase(same);
}

}  // namespace

bool Linear::uniform() const {
  return std::all_of(lanes.begin(), lanes.end(), [&](int64_t lane) { return lane == lanes.front(); });
}

std::optional<int64_t> Linear::step() const {
  if (lanes.size() < 2) return 0;
  const int64_t first = lanes[1] - lanes[0];
  for (size_t i = 2; i < lanes.size(); ++i)
    if (lanes[i] - lanes[i - 1] != first) return std::nullopt;
  return first;
}

Linear add_scaled(const Linear& a, const Linear& b, int64_t scale) {
  Linear result = a;
  for (auto term : b.terms) {
    term.coefficient *= scale;
    if (term.coefficient != 0) add_term(result, std::move(term));
  }
  for (size_t i = 0; i < result.lanes.size(); ++i) result.lanes[i] += scale * b.lanes[i];
  return result;
}

void IndexFacts::bind(const Var& var, Interval range, int depth) { facts_[var] = {range, depth}; }

Interval IndexFacts::range_of(const Var& var) const {
  const auto fact = facts_.find(var);
  return fact == facts_.end() ? Interval{} : fact->second.range;
}

int IndexFacts::depth(const Expr& expr) const {
  int deepest = 0;
  visit(expr, [&](const ExprNode& node) {
    if (node.kind != ExprKind::Var) return;
    if (const auto fact = facts_.find(node.var); fact != facts_.end()) deepest = std::max(deepest, fact->second.depth);
  });
  return deepest;
}

Interval IndexFacts::interval(const Linear& linear) const {
  Interval total{*std::min_element(linear.lanes.begin(), linear.lanes.end()),
                 *std::max_element(linear.lanes.begin(), linear.lanes.end())};
  for (const auto& term : linear.terms) total = sum(total, scaled(interval(term.atom), term.coefficient));
  return total;
}

Interval IndexFacts::interval(const Expr& expr) const {
  const auto arg = [&](int i) { return interval(expr->args[i]); };
  switch (expr->kind) {
    case ExprKind::IntImm:
      return Interval::point(expr->int_value);
    case ExprKind::Var:
      return range_of(expr->var);
    case ExprKind::Add:
      return sum(arg(0), arg(1));
    case ExprKind::Sub:
      return sum(arg(0), scaled(arg(1), -1));
    case ExprKind::Mul:
      return product(arg(0), arg(1));
    case ExprKind::Min: {
      const Interval a = arg(0), b = arg(1);
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    }
    case ExprKind::Max: {
      const Interval a = arg(0), b = arg(1);
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    }
    case ExprKind::Select: {
      const Interval a = arg(1), b = arg(2);
      return {std::min(a.low, b.low), std::max(a.high, b.high)};
    }
    case ExprKind::FloorDiv: {
      const auto divisor = const_int(expr->args[1]);
      return divisor && *divisor > 0 ? divided(arg(0), *divisor) : Interval{};
    }
    case ExprKind::FloorMod: {
      const auto divisor = const_int(expr->args[1]);
      if (!divisor || *divisor <= 0) return {};
      const Interval a = arg(0);
      return a.low >= 0 && a.high < *divisor ? a : Interval{0, *divisor - 1};
    }
    case ExprKind::Broadcast:
      return arg(0);
    case ExprKind::Ramp:
      return sum(arg(0), product(arg(1), {0, expr->lanes - 1}));
    default:
      return {};
  }
}

std::optional<Linear> IndexFacts::quotient(const Linear& value, int64_t divisor) const {
  auto [multiples, rest] = split_multiples(value, divisor);
  for (auto& term : multiples.terms) term.coefficient /= divisor;
  if (!rest.terms.empty()) {
    // The rest may still be a constant after division: (8*x + y) / 8 = x when y is in 0 .. 7.
    for (size_t i = 0; i < rest.lanes.size(); ++i) {
      const Interval range = divided(interval(Linear{rest.terms, {rest.lanes[i]}}), divisor);
      if (range.low != range.high) return std::nullopt;
      multiples.lanes[i] = range.low;
    }
    return multiples;
  }
  for (size_t i = 0; i < rest.lanes.size(); ++i) multiples.lanes[i] = floor_div(rest.lanes[i], divisor);
  return multiples;
}

std::optional<Linear> IndexFacts::remainder(const Linear& value, int64_t divisor) const {
  const auto whole = quotient(value, divisor);
  if (!whole) return std::nullopt;
  return add_scaled(value, *whole, -divisor);
}

std::optional<Linear> IndexFacts::linear(const Expr& expr) const {
  if (expr->dtype.is_float() || expr->dtype == kBool) return std::nullopt;
  const auto width = static_cast<size_t>(expr->lanes);
  const auto opaque = [&]() -> std::optional<Linear> {
    if (expr->lanes != 1) return std::nullopt;
    return Linear{{{expr, 1, depth(expr)}}, {0}};
  };
  switch (expr->kind) {
    case ExprKind::IntImm:
      return Linear{{}, std::vector<int64_t>(width, expr->int_value)};
    case ExprKind::Var: {
      const Interval range = range_of(expr->var);
      return range.low == range.high ? Linear{{}, std::vector<int64_t>(width, range.low)} : opaque();
    }
    case ExprKind::Add:
    case ExprKind::Sub: {
      const auto a = linear(expr->args[0]), b = linear(expr->args[1]);
      if (!a || !b) return opaque();
      return add_scaled(*a, *b, expr->kind == ExprKind::Add ? 1 : -1);
    }
    case ExprKind::Mul: {
      const auto a = linear(expr->args[0]), b = linear(expr->args[1]);
      const Linear zero{{}, std::vector<int64_t>(width, 0)};
      if (a && b && b->constant() && b->uniform()) return add_scaled(zero, *a, b->lanes[0]);
      if (a && b && a->constant() && a->uniform()) return add_scaled(zero, *b, a->lanes[0]);
      if (!a || !b || !a->constant() || !b->constant()) return opaque();
      Linear lanes = zero;
      for (size_t i = 0; i < width; ++i) lanes.lanes[i] = a->lanes[i] * b->lanes[i];
      return lanes;
    }
    case ExprKind::FloorDiv:
    case ExprKind::FloorMod: {
      const auto a = linear(expr->args[0]), b = linear(expr->args[1]);
      if (!a || !b || !b->constant() || !b->uniform() || b->lanes[0] <= 0) return opaque();
      const auto exact = expr->kind == ExprKind::FloorDiv ? quotient(*a, b->lanes[0]) : remainder(*a, b->lanes[0]);
      return exact ? exact : opaque();
    }
    case ExprKind::Ramp: {
      const auto base = linear(expr->args[0]), stride = linear(expr->args[1]);
      if (!base || !stride || !stride->constant()) return std::nullopt;
      Linear lanes{base->terms, std::vector<int64_t>(width)};
      for (size_t i = 0; i < width; ++i) lanes.lanes[i] = base->lanes[0] + static_cast<int64_t>(i) * stride->lanes[0];
      return lanes;
    }
    case ExprKind::Broadcast: {
      auto scalar = linear(expr->args[0]);
      if (!scalar) return std::nullopt;
      return Linear{std::move(scalar->terms), std::vector<int64_t>(width, scalar->lanes[0])};
    }
    default:
      return opaque();
  }
}

}  // namespace farm::codegen
