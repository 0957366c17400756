#include "cost_model/access.h"

#include "testing.h"

namespace farm {
namespace {

const Var y = make_var("y"), x = make_var("x"), r = make_var("r"), f = make_var("f");
const Buffer kData = make_buffer("data", kFloat32, {4096});

Expr e(const Var& var) { return var_expr(var); }

Footprint touched(const Expr& index, const std::vector<LoopSite>& loops, int depth = 0) {
  const std::vector<Expr> indices{index};
  return footprint(*kData, index_terms(*kData, indices, loops), depth);
}

}  // namespace

TEST_CASE("a dense tile touches each element and each line once") {
  const std::vector<LoopSite> loops{{y, 8}, {x, 64}};
  const Footprint all = touched(e(y) * 64 + e(x), loops);
  CHECK(all.elements == 512);
  CHECK(all.lines == 32);
  const Footprint row = touched(e(y) * 64 + e(x), loops, 1);
  CHECK(row.elements == 64);
  CHECK(row.lines == 4);
}

TEST_CASE("a column touches a line for each element") {
  const Footprint column = touched(e(y) * 64, {{y, 8}});
  CHECK(column.elements == 8);
  CHECK(column.lines == 8);
}

TEST_CASE("the rows of a sliding window overlap") {
  const Footprint window = touched(e(x) + e(r), {{x, 30}, {r, 3}});
  CHECK(window.elements == 32);
}

TEST_CASE("a fused loop is taken apart into what it was fused from") {
  const std::vector<LoopSite> loops{{f, 32}};
  const std::vector<Expr> index{floor_div(e(f), int_imm(8)) * 64 + floor_mod(e(f), int_imm(8))};
  const auto terms = index_terms(*kData, index, loops);
  REQUIRE(terms.size() == 2);
  CHECK(terms[0] == IndexTerm{0, 1, 8});
  CHECK(terms[1] == IndexTerm{0, 64, 4});
  CHECK(footprint(*kData, terms, 0).elements == 32);
}

TEST_CASE("an access of several dimensions is flattened row by row") {
  const Buffer matrix = make_buffer("matrix", kFloat32, {16, 32});
  const std::vector<LoopSite> loops{{y, 16}, {x, 32}};
  const std::vector<Expr> indices{e(y), e(x)};
  const auto terms = index_terms(*matrix, indices, loops);
  CHECK(stride_of(terms, 0) == 32);
  CHECK(stride_of(terms, 1) == 1);
}

TEST_CASE("nothing is counted beyond the buffer's own size") {
  CHECK(touched(e(y) * 64 + e(x), {{y, 1000}, {x, 64}}).elements == 4096);
}

}  // namespace farm
