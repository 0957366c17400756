#include "schedule/arith.h"

#include "base/rng.h"
#include "testing.h"

namespace farm {

TEST_CASE("divisions of a split index come apart where the bounds allow it, and stay where they do not") {
  Var outer = make_var("o"), inner = make_var("i");
  VarBounds bounds{{outer, {0, 9}}, {inner, {0, 3}}};
  Expr index = var_expr(outer) * 4 + var_expr(inner);
  CHECK(same_expr(simplify(floor_div(index, int_imm(4)), bounds), var_expr(outer)));
  CHECK(same_expr(simplify(floor_mod(index, int_imm(4)), bounds), var_expr(inner)));
  bounds[inner] = {0, 4};  // one too many
  CHECK_FALSE(same_expr(simplify(floor_div(index, int_imm(4)), bounds), var_expr(outer)));
}

TEST_CASE("certain conditions become constants and uncertain ones do not") {
  Var v = make_var("v");
  VarBounds bounds{{v, {0, 9}}};
  CHECK(is_const_int(simplify(less(var_expr(v), int_imm(10)), bounds), 1));
  CHECK(is_const_int(simplify(less(var_expr(v) + 10, int_imm(10)), bounds), 0));
  CHECK_FALSE(const_int(simplify(less(var_expr(v), int_imm(9)), bounds)));
}

namespace {

Expr random_index(Rng& rng, const std::vector<Var>& vars, int depth) {
  if (depth == 0) return rng.chance(0.7) ? var_expr(vars[rng.below(vars.size())]) : int_imm(static_cast<int64_t>(rng.below(9)) - 3);
  Expr a = random_index(rng, vars, depth - 1);
  auto constant = int_imm(1 + static_cast<int64_t>(rng.below(6)));
  switch (rng.below(6)) {
    case 0: return a + random_index(rng, vars, depth - 1);
    case 1: return a - random_index(rng, vars, depth - 1);
    case 2: return a * constant;
    case 3: return floor_div(a, constant);
    case 4: return floor_mod(a, constant);
    default: return rng.chance(0.5) ? min_of(a, constant) : max_of(a, constant);
  }
}

int64_t value_at(const Expr& expr, const std::vector<Var>& vars, const std::vector<int64_t>& values) {
  VarMap map;
  for (size_t i = 0; i < vars.size(); ++i) map[vars[i]] = int_imm(values[i]);
  auto value = const_int(substitute(expr, map));
  REQUIRE(value);
  return *value;
}

}  // namespace

TEST_CASE("simplified expressions have the same value and stay inside their interval, for random expressions") {
  Rng rng(11);
  std::vector<Var> vars{make_var("a"), make_var("b"), make_var("c")};
  std::vector<int64_t> extents{4, 3, 7};
  VarBounds bounds;
  for (size_t i = 0; i < vars.size(); ++i) bounds[vars[i]] = {0, extents[i] - 1};
  for (int round = 0; round < 500; ++round) {
    Expr expr = random_index(rng, vars, 3), shorter = simplify(expr, bounds);
    auto range = interval_of(expr, bounds);
    INFO(to_string(expr) << "  became  " << to_string(shorter));
    for (int point = 0; point < 12; ++point) {
      std::vector<int64_t> at;
      for (int64_t extent : extents) at.push_back(static_cast<int64_t>(rng.below(static_cast<uint64_t>(extent))));
      int64_t value = value_at(expr, vars, at);
      REQUIRE(value_at(shorter, vars, at) == value);
      if (range) REQUIRE((range->lo <= value && value <= range->hi));
    }
  }
}

}  // namespace farm
