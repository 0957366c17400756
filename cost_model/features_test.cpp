#include "cost_model/features.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "testing.h"

namespace farm {
namespace {

// acc[y, x] += a[i*6 + y, k] * b[k, x]: a register tile of 6 x 16 inside 32 steps of k, four of them in parallel.
struct Nest {
  Var i = make_var("i"), k = make_var("k"), y = make_var("y"), x = make_var("x");
  Buffer a = make_buffer("a", kFloat32, {24 * 32}), b = make_buffer("b", kFloat32, {32 * 16});
  Buffer acc = make_buffer("acc", kFloat32, {96}, Scope::Register), out = make_buffer("out", kFloat32, {24 * 16});

  Expr e(const Var& var) const { return var_expr(var); }

  Stmt store() const {
    const Expr at = e(y) * 16 + e(x);
    const Expr product = load(a, {e(i) * 192 + e(y) * 32 + e(k)}) * load(b, {e(k) * 16 + e(x)});
    return make_stmt(Store{acc, {at}, load(acc, {at}) + product, nullptr});
  }
  Stmt tile(Stmt body) const {
    return loop(y, 6, LoopKind::Unrolled, loop(x, 16, LoopKind::Vectorized, std::move(body)));
  }
  Stmt write_back() const {
    return tile(make_stmt(Store{out, {e(i) * 96 + e(y) * 16 + e(x)}, load(acc, {e(y) * 16 + e(x)}), nullptr}));
  }
  static Stmt loop(const Var& var, int64_t extent, LoopKind kind, Stmt body) {
    return make_stmt(For{var, int_imm(extent), kind, "", std::move(body)});
  }

  Module module(LoopKind outer = LoopKind::Parallel) const {
    Stmt body = make_seq({loop(k, 32, LoopKind::Serial, tile(store())), write_back()});
    Function run{"run", FunctionRole::Run, {a, b, out}, {}, {acc}, loop(i, 4, outer, std::move(body))};
    Module module;
    module.functions = {run};
    module.inputs = {a, b};
    module.output = out;
    return module;
  }
};

Target machine() {
  Target target;
  target.vector_bits = 256;
  target.vector_registers = 16;
  target.l1_bytes = 1024;  // so small that the nest does not fit
  return target;
}

float column(const std::vector<float>& row, std::string_view name) {
  const auto& names = feature_names();
  const auto at = std::ranges::find(names, name);
  REQUIRE(at != names.end());
  return row[static_cast<size_t>(at - names.begin())];
}
double size_column(const std::vector<float>& row, std::string_view name) { return std::exp2(column(row, name)) - 1; }

}  // namespace

TEST_CASE("every column has a name of its own and every row has every column") {
  const auto& names = feature_names();
  CHECK(std::set<std::string>(names.begin(), names.end()).size() == names.size());
  const FeatureRows rows = extract_features(Nest().module(), machine(), 2);
  REQUIRE(rows.size() == 2);
  for (const auto& row : rows) {
    CHECK(row.size() == names.size());
    CHECK(std::ranges::all_of(row, [](float x) { return std::isfinite(x); }));
  }
}

TEST_CASE("the counts of a nest made by hand are what one counts by hand") {
  const auto row = extract_features(Nest().module(), machine(), 2)[0];
  const double iterations = 4 * 32 * 6 * 16;
  CHECK(size_column(row, "iterations") == Approx(iterations).epsilon(1e-4));
  CHECK(size_column(row, "float_fma") == Approx(iterations).epsilon(1e-4));
  CHECK(size_column(row, "float_mul") == Approx(0).margin(1e-4));
  CHECK(size_column(row, "vector_extent") == Approx(16).epsilon(1e-4));
  CHECK(column(row, "vector_position") == 0);
  CHECK(column(row, "vector_filled") == 1);
  CHECK(size_column(row, "unrolled_product") == Approx(6).epsilon(1e-4));
  CHECK(size_column(row, "parallel_extent") == Approx(4).epsilon(1e-4));
  CHECK(column(row, "parallel_balance") == 1);
  CHECK(size_column(row, "reduction_steps") == Approx(32).epsilon(1e-4));
}

TEST_CASE("the register tile is seen: accumulators, loads and broadcasts of one pass") {
  const auto row = extract_features(Nest().module(), machine(), 2)[0];
  CHECK(size_column(row, "accumulators") == Approx(12).epsilon(1e-4));
  CHECK(size_column(row, "tile_fmas") == Approx(12).epsilon(1e-4));
  CHECK(size_column(row, "tile_loads") == Approx(2).epsilon(1e-4));
  CHECK(size_column(row, "tile_broadcasts") == Approx(6).epsilon(1e-4));
  CHECK(column(row, "accumulators_of_registers") == 0.75f);
}

TEST_CASE("each buffer tells its bytes, reuse and strides") {
  const auto row = extract_features(Nest().module(), machine(), 2)[0];
  // By falling bytes: a (3072), b (2048), then the accumulators, which are no memory.
  CHECK(size_column(row, "buffer0_unique_bytes") == Approx(3072).epsilon(1e-4));
  CHECK(column(row, "buffer0_vector_broadcast") == 1);
  CHECK(size_column(row, "buffer0_reuse_count") == Approx(16).epsilon(1e-4));
  CHECK(size_column(row, "buffer1_unique_bytes") == Approx(2048).epsilon(1e-4));
  CHECK(column(row, "buffer1_vector_contiguous") == 1);
  CHECK(column(row, "buffer1_reuse_in_loop") == 1);
  CHECK(size_column(row, "buffer1_reuse_count") == Approx(6).epsilon(1e-4));
  CHECK(size_column(row, "buffer1_reuse_distance_iterations") == Approx(16).epsilon(1e-4));
  CHECK(column(row, "buffer2_reads") == 1);
  CHECK(column(row, "buffer2_writes") == 1);
  CHECK(column(row, "buffer3_scope") == -1);
}

TEST_CASE("a serial loop in place of a parallel one changes the row") {
  const auto row = extract_features(Nest().module(LoopKind::Serial), machine(), 2)[0];
  CHECK(size_column(row, "parallel_extent") == Approx(0).margin(1e-4));
  CHECK(row != extract_features(Nest().module(), machine(), 2)[0]);
}

TEST_CASE("the mask of a load is no index of it") {
  Nest masked;
  const Expr at = masked.e(masked.y) * 16 + masked.e(masked.x);
  const Expr value = masked_load(masked.a, masked.e(masked.x), less(masked.e(masked.y), int_imm(5)));
  Module module = masked.module();
  module.functions[0].body = masked.tile(make_stmt(Store{masked.acc, {at}, value, nullptr}));
  const auto row = extract_features(module, machine(), 2)[0];
  CHECK(size_column(row, "buffer0_unique_bytes") == Approx(64).epsilon(1e-4));
  CHECK(size_column(row, "compare") == Approx(96).epsilon(1e-4));
}

TEST_CASE("more bytes cross the edge of a smaller cache") {
  Target large = machine();
  large.l1_bytes = 1 << 20;
  const auto narrow = extract_features(Nest().module(), machine(), 2)[0];
  const auto wide = extract_features(Nest().module(), large, 2)[0];
  CHECK(column(narrow, "l1_traffic_bytes") > column(wide, "l1_traffic_bytes"));
}

}  // namespace farm
