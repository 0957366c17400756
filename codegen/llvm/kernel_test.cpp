// What generated code computes, against plain loops.
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>

#include "codegen/llvm/test_kernel.h"

using namespace farm;
using namespace farm::codegen_test;

namespace {

Expr lanes8(Expr base, int64_t stride = 1) { return ramp(std::move(base), int_imm(stride), 8); }

/// out[i] = body(i) for i in 0 .. n, as int64 to float32 where needed.
std::vector<int32_t> run_ints(int64_t n, const std::function<Expr(Expr)>& body) {
  const Buffer out = make_buffer("out", kInt32, {n});
  const Var i = make_var("i");
  const Expr value = cast(kInt32, body(var_expr(i)));
  Kernel kernel(run_module({}, out, loop(i, n, store(out, var_expr(i), value))), host());
  std::vector<int32_t> result(n, -99);
  REQUIRE(kernel.run({}, result.data()) == 0);
  return result;
}

}  // namespace

TEST_CASE("a vector add with a masked tail adds every element and touches nothing beyond") {
  constexpr int64_t n = 21;
  const Buffer a = make_buffer("a", kFloat32, {n}), b = make_buffer("b", kFloat32, {n}),
               out = make_buffer("out", kFloat32, {n});
  const Var i = make_var("i");
  const Expr index = lanes8(var_expr(i) * 8);
  const Expr mask = less(index, broadcast(int_imm(n), 8));
  const auto body = store(out, index, masked_load(a, index, mask) + masked_load(b, index, mask), mask);
  Kernel kernel(run_module({a, b}, out, loop(i, 3, body)), host());

  // The tensors end where a page ends and the next one may not be touched.
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  auto* memory =
      static_cast<std::byte*>(mmap(nullptr, 6 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(memory != MAP_FAILED);
  float* tensors[3];
  for (int t = 0; t < 3; ++t) {
    REQUIRE(mprotect(memory + (2 * t + 1) * page, page, PROT_NONE) == 0);
    tensors[t] = reinterpret_cast<float*>(memory + (2 * t + 1) * page) - n;
  }
  for (int64_t k = 0; k < n; ++k) tensors[0][k] = static_cast<float>(k), tensors[1][k] = 100;
  CHECK(kernel.run({tensors[0], tensors[1]}, tensors[2]) == 0);
  for (int64_t k = 0; k < n; ++k) CHECK(tensors[2][k] == static_cast<float>(k + 100));
  munmap(memory, 6 * page);
}

TEST_CASE("a select guards the loads of its sides, so padding reads nothing outside") {
  constexpr int64_t n = 16;
  const Buffer a = make_buffer("a", kFloat32, {n}), out = make_buffer("out", kFloat32, {n});
  const Var i = make_var("i");
  const Expr at = lanes8(var_expr(i) * 8 - 3);
  const Expr inside = logical_and(less_equal(broadcast(int_imm(0), 8), at), less(at, broadcast(int_imm(n), 8)));
  SECTION("zero outside") {
    const auto body = store(out, lanes8(var_expr(i) * 8), select(inside, load(a, {at}), broadcast(float_imm(0), 8)));
    Kernel kernel(run_module({a}, out, loop(i, 2, body)), host());
    const auto input = ramp_values(n, 11);
    std::vector<float> result(n);
    REQUIRE(kernel.run({input.data()}, result.data()) == 0);
    for (int64_t k = 0; k < n; ++k) CHECK(result[k] == (k < 3 ? 0 : input[k - 3]));
  }
  SECTION("another load outside, scalar") {
    const Expr x = var_expr(i);
    const auto body = store(out, x, select(less(x, int_imm(3)), load(a, {x + 13}) + float_imm(1), load(a, {x - 3})));
    Kernel kernel(run_module({a}, out, loop(i, n, body)), host());
    const auto input = ramp_values(n, 11);
    std::vector<float> result(n);
    REQUIRE(kernel.run({input.data()}, result.data()) == 0);
    for (int64_t k = 0; k < n; ++k) CHECK(result[k] == (k < 3 ? input[k + 13] + 1 : input[k - 3]));
  }
}

TEST_CASE("a masked-off scalar load of an unmapped address reads zero") {
  const Buffer a = make_buffer("a", kFloat32, {4}), out = make_buffer("out", kFloat32, {4});
  const Var i = make_var("i");
  const Expr far = var_expr(i) * (int64_t{1} << 40);
  const auto body = store(out, var_expr(i), masked_load(a, far, less(var_expr(i), int_imm(1))));
  Kernel kernel(run_module({a}, out, loop(i, 4, body)), host());
  const std::vector<float> input = {5, 6, 7, 8};
  std::vector<float> result(4, -1);
  REQUIRE(kernel.run({input.data()}, result.data()) == 0);
  CHECK(result == std::vector<float>{5, 0, 0, 0});
}

TEST_CASE("division rounds down, whatever the signs") {
  const auto quotients = run_ints(41, [](Expr i) { return floor_div(i - 20, int_imm(6)); });
  const auto remainders = run_ints(41, [](Expr i) { return floor_mod(i - 20, int_imm(6)); });
  const auto by_negative = run_ints(41, [](Expr i) { return floor_div(i - 20, int_imm(-6)); });
  const auto rest_of_negative = run_ints(41, [](Expr i) { return floor_mod(i - 20, int_imm(-6)); });
  const auto non_negative =
      run_ints(41, [](Expr i) { return floor_div(i, int_imm(8)) * 100 + floor_mod(i, int_imm(8)); });
  for (int i = 0; i < 41; ++i) {
    const int x = i - 20;
    CHECK(quotients[i] == static_cast<int>(std::floor(x / 6.0)));
    CHECK(remainders[i] == x - 6 * static_cast<int>(std::floor(x / 6.0)));
    CHECK(by_negative[i] == static_cast<int>(std::floor(x / -6.0)));
    CHECK(rest_of_negative[i] == x + 6 * static_cast<int>(std::floor(x / -6.0)));
    CHECK(non_negative[i] == i / 8 * 100 + i % 8);
  }
}

TEST_CASE("vector indices of any shape read and write the right elements") {
  constexpr int64_t n = 64;
  const Buffer a = make_buffer("a", kFloat32, {n}), out = make_buffer("out", kFloat32, {n});
  const auto input = ramp_values(n, 61);
  const Var i = make_var("i");
  const auto read = [&](const Expr& index) {
    const auto body = store(out, lanes8(var_expr(i) * 8), load(a, {index}));
    Kernel kernel(run_module({a}, out, loop(i, 2, body)), host());
    std::vector<float> result(n, -1);
    REQUIRE(kernel.run({input.data()}, result.data()) == 0);
    return result;
  };
  const auto lane = lanes8(int_imm(0));
  const auto eights = [&](const Expr& scalar) { return broadcast(scalar, 8); };
  const std::pair<Expr, std::function<int64_t(int64_t, int64_t)>> cases[] = {
      {lanes8(var_expr(i) * 16), [](int64_t i, int64_t l) { return i * 16 + l; }},
      {lanes8(var_expr(i) * 8 + 7, -1), [](int64_t i, int64_t l) { return i * 8 + 7 - l; }},
      {lanes8(var_expr(i) * 5, 2), [](int64_t i, int64_t l) { return i * 5 + 2 * l; }},
      {lanes8(var_expr(i) + 1, 3), [](int64_t i, int64_t l) { return i + 1 + 3 * l; }},
      {lanes8(var_expr(i), 7), [](int64_t i, int64_t l) { return i + 7 * l; }},
      {floor_div(lane, eights(int_imm(4))) * eights(int_imm(20)) + floor_mod(lane, eights(int_imm(4))) +
           eights(var_expr(i)),
       [](int64_t i, int64_t l) { return l / 4 * 20 + l % 4 + i; }},
      {floor_div(lanes8(var_expr(i) * 8), eights(int_imm(2))), [](int64_t i, int64_t l) { return (i * 8 + l) / 2; }},
      {ramp(var_expr(i), var_expr(i) + 2, 8), [](int64_t i, int64_t l) { return i + l * (i + 2); }},
      {floor_div(lanes8(var_expr(i) * 5), eights(int_imm(3))), [](int64_t i, int64_t l) { return (i * 5 + l) / 3; }},
  };
  for (const auto& [index, expected] : cases) {
    INFO(to_string(index));
    const auto result = read(index);
    for (int64_t x = 0; x < 2; ++x)
      for (int64_t l = 0; l < 8; ++l) CHECK(result[x * 8 + l] == input[expected(x, l)]);

    const auto body = store(out, index, load(a, {lanes8(var_expr(i) * 8)}));
    Kernel scatter(run_module({a}, out, loop(i, 1, body)), host());
    std::vector<float> written(n, -1);
    REQUIRE(scatter.run({input.data()}, written.data()) == 0);
    std::vector<float> wanted(n, -1);
    for (int64_t l = 0; l < 8; ++l) wanted[expected(0, l)] = input[l];
    CHECK(written == wanted);
  }
}

TEST_CASE("masked lanes of strided and scattered accesses touch no memory") {
  constexpr int64_t n = 64;
  const Buffer a = make_buffer("a", kFloat32, {n}), out = make_buffer("out", kFloat32, {n});
  const auto input = ramp_values(n, 61);
  const Var i = make_var("i");
  // Index lane*stride far beyond the buffer for the lanes that are off.
  for (const int64_t stride : {int64_t{2}, int64_t{9}, int64_t{1} << 36}) {
    const Expr index = lanes8(var_expr(i), stride);
    const Expr mask = less(lanes8(var_expr(i)), broadcast(int_imm(stride > 100 ? 1 : 5), 8));
    const auto body = store(out, index, masked_load(a, index, mask) + broadcast(float_imm(1), 8), mask);
    Kernel kernel(run_module({a}, out, loop(i, 1, body)), host());
    std::vector<float> result(n, -1), wanted(n, -1);
    REQUIRE(kernel.run({input.data()}, result.data()) == 0);
    for (int64_t l = 0; l < (stride > 100 ? 1 : 5); ++l) wanted[l * stride] = input[l * stride] + 1;
    CHECK(result == wanted);
  }
}

TEST_CASE("functions, casts and extremes compute what C computes") {
  constexpr int64_t n = 16;
  const Buffer a = make_buffer("a", kFloat32, {n}), out = make_buffer("out", kFloat32, {n});
  std::vector<float> input(n);
  for (int64_t k = 0; k < n; ++k) input[k] = 0.3f + 0.25f * static_cast<float>(k);
  const Var i = make_var("i");
  const auto apply = [&](const std::function<Expr(Expr)>& f) {
    const auto body = store(out, lanes8(var_expr(i) * 8), f(load(a, {lanes8(var_expr(i) * 8)})));
    Kernel kernel(run_module({a}, out, loop(i, 2, body)), host());
    std::vector<float> result(n);
    REQUIRE(kernel.run({input.data()}, result.data()) == 0);
    return result;
  };
  const auto check = [&](const char* name, float (*expected)(float)) {
    INFO(name);
    const auto result = apply([&](Expr x) { return call(name, kFloat32, {std::move(x)}); });
    for (int64_t k = 0; k < n; ++k) CHECK(result[k] == Approx(expected(input[k])));
  };
  check("exp", std::exp);
  check("log", std::log);
  check("sqrt", std::sqrt);
  check("tanh", std::tanh);
  check("erf", std::erf);
  check("floor", std::floor);
  check("ceil", std::ceil);
  check("abs", std::fabs);
  const auto two = broadcast(float_imm(2), 8);
  const auto clamped = apply([&](Expr x) { return min_of(max_of(std::move(x), broadcast(float_imm(1), 8)), two); });
  const auto truncated = apply([&](Expr x) { return cast(kFloat32, cast(kInt32, std::move(x))); });
  for (int64_t k = 0; k < n; ++k) {
    CHECK(clamped[k] == std::min(std::max(input[k], 1.0f), 2.0f));
    CHECK(truncated[k] == std::trunc(input[k]));
  }
}

TEST_CASE("a function without code is a build error that names it") {
  const Buffer out = make_buffer("out", kFloat32, {1});
  const auto module = run_module({}, out, store(out, int_imm(0), call("gamma", kFloat32, {float_imm(1)})));
  const auto artifact = make_llvm_backend()->build(module, host(), 1);
  REQUIRE(!artifact.has_value());
  CHECK(artifact.error() == Error{ErrorCode::NoCandidate, "codegen: no code for gamma of 1 arguments of type float32"});
}

TEST_CASE("a module that is not lowered is a build error, not a crash") {
  const Buffer out = make_buffer("out", kFloat32, {2});
  const Var i = make_var("i");
  const auto body = loop(i, 2, store(out, var_expr(i), float_imm(1)), LoopKind::Vectorized);
  const auto artifact = make_llvm_backend()->build(run_module({}, out, body), host(), 1);
  REQUIRE(!artifact.has_value());
  CHECK(artifact.error().message == "codegen: loop i is neither serial nor parallel: the module is not lowered");
}

TEST_CASE("a parallel loop goes through the context once, with outer loop variables in its closure") {
  const Buffer a = make_buffer("a", kFloat32, {4, 30}), out = make_buffer("out", kFloat32, {4, 30});
  const Var y = make_var("y"), x = make_var("x"), z = make_var("z");
  const Expr index = var_expr(y) * 30 + var_expr(x) * 5 + var_expr(z);
  const auto body = store(out, index, load(a, {index}) * float_imm(2));
  const auto nest = loop(y, 4, loop(x, 6, loop(z, 5, body, LoopKind::Parallel), LoopKind::Parallel));
  const auto input = ramp_values(120, 13);
  for (const int threads : {1, 2}) {
    Kernel kernel(run_module({a}, out, nest), host(), threads);
    std::vector<float> result(120);
    REQUIRE(kernel.run({input.data()}, result.data()) == 0);
    for (size_t k = 0; k < result.size(); ++k) CHECK(result[k] == 2 * input[k]);
    CHECK(kernel.parallel_calls() == (threads == 1 ? 0 : 4));
    CHECK(kernel.artifact().threads == threads);
  }
}

TEST_CASE("thread scratch is each worker's own and too much of it is a build error") {
  const Buffer out = make_buffer("out", kFloat32, {12});
  const Var y = make_var("y"), k = make_var("k"), s = make_var("s");
  const auto module_with = [&](int64_t elements) {
    const Buffer scratch = make_buffer("scratch", kFloat32, {elements}, Scope::Thread);
    const auto fill = loop(k, 8, store(scratch, var_expr(k), cast(kFloat32, var_expr(y) + var_expr(k))));
    const auto zero = store(out, var_expr(y), float_imm(0));
    const auto sum = loop(s, 8, store(out, var_expr(y), load(out, {var_expr(y)}) + load(scratch, {var_expr(s)})));
    const auto body = make_stmt(Allocate{scratch, make_seq({fill, zero, sum})});
    return run_module({}, out, loop(y, 12, body, LoopKind::Parallel));
  };
  Kernel kernel(module_with(8), host(), 2);
  std::vector<float> result(12);
  REQUIRE(kernel.run({}, result.data()) == 0);
  for (int i = 0; i < 12; ++i) CHECK(result[i] == static_cast<float>(8 * i + 28));

  const auto refused = make_llvm_backend()->build(module_with(16385), host(), 2);
  REQUIRE(!refused.has_value());
  CHECK(refused.error().message == "codegen: buffer scratch needs 65540 bytes of a thread's stack, 65536 are allowed");
}

TEST_CASE("constants are packed once and workspace lies at its offsets") {
  // out[i] = data[i] * weight[3 - i] + i, the weight reversed by prepack, the sum made in the workspace.
  const Buffer data = make_buffer("data", kFloat32, {4}), weight = make_buffer("weight", kFloat32, {4});
  const Buffer packed = make_buffer("packed", kFloat32, {4}), out = make_buffer("out", kFloat32, {4});
  const Buffer unused = make_buffer("unused", kFloat32, {16}, Scope::Workspace),
               temp = make_buffer("temp", kFloat32, {4}, Scope::Workspace);
  const Var i = make_var("i"), j = make_var("j"), p = make_var("p");
  Module module = run_module(
      {data}, out,
      make_seq({loop(i, 4, store(temp, var_expr(i), load(data, {var_expr(i)}) * load(packed, {var_expr(i)}))),
                loop(j, 4, store(out, var_expr(j), load(temp, {var_expr(j)}) + cast(kFloat32, var_expr(j))))}));
  module.constants = {weight};
  module.packed = {packed};
  module.packed_offsets = {64};
  module.packed_bytes = 128;
  module.functions[0].workspace = {unused, temp};
  module.workspace_offsets = {0, 64};
  module.workspace_bytes = 128;
  module.functions.push_back(
      {.name = "prepack",
       .role = FunctionRole::Prepack,
       .params = {weight, packed},
       .body = loop(p, 4, store(packed, var_expr(p), load(weight, {int_imm(3) - var_expr(p)})))});
  Kernel kernel(module, host());
  const std::vector<float> d = {1, 2, 3, 4}, w = {10, 20, 30, 40};
  std::vector<float> result(4);
  REQUIRE(kernel.prepack({w.data()}) == 0);
  REQUIRE(kernel.run({d.data()}, result.data()) == 0);
  CHECK(result == std::vector<float>{40, 61, 62, 43});
  CHECK(kernel.artifact().packed_bytes == 128);
  CHECK(kernel.artifact().workspace_bytes == 128);
  CHECK(kernel.artifact().constants.size() == 1);
}

TEST_CASE("tensors that are aligned to their elements only are fine") {
  const Buffer a = make_buffer("a", kFloat32, {16}), out = make_buffer("out", kFloat32, {16});
  const Var i = make_var("i");
  Kernel kernel(
      run_module({a}, out, loop(i, 2, store(out, lanes8(var_expr(i) * 8), load(a, {lanes8(var_expr(i) * 8)})))),
      host());
  alignas(64) float input[17], result[17] = {};
  for (int k = 0; k < 17; ++k) input[k] = static_cast<float>(k);
  REQUIRE(kernel.run({input + 1}, result + 1) == 0);
  for (int k = 1; k < 17; ++k) CHECK(result[k] == input[k]);
}

TEST_CASE("a loop whose extent depends on an outer one runs as often as it says, not at all included") {
  const Buffer out = make_buffer("out", kInt32, {5});
  const Var i = make_var("i"), j = make_var("j");
  const Expr extent = min_of(var_expr(i) * 2, int_imm(5));
  const auto inner =
      make_stmt(For{.var = j,
                    .extent = extent,
                    .body = store(out, var_expr(i), load(out, {var_expr(i)}) + cast(kInt32, int_imm(1)))});
  Kernel kernel(run_module({}, out, loop(i, 5, inner)), host());
  std::vector<int32_t> result(5, 0);
  REQUIRE(kernel.run({}, result.data()) == 0);
  CHECK(result == std::vector<int32_t>{0, 2, 4, 5, 5});
}

TEST_CASE("a register tile leaves transposed, whatever the number of columns side by side") {
  for (const int columns : {1, 2, 3, 4, 5, 6, 7, 9})
    for (const int lanes : {4, 8, 16}) {
      INFO(columns << " columns of " << lanes);
      const int64_t pitch = 11;  // out[lane, column]
      const int64_t n = lanes * pitch;
      const Buffer a = make_buffer("a", kFloat32, {columns * lanes}), out = make_buffer("out", kFloat32, {n});
      std::vector<Stmt> stores;
      for (int column = columns - 1; column >= 0; --column)
        stores.push_back(store(out, ramp(int_imm(column), int_imm(pitch), lanes),
                               load(a, {ramp(int_imm(column * lanes), int_imm(1), lanes)})));
      Kernel kernel(run_module({a}, out, make_seq(stores)), host());
      const auto input = ramp_values(columns * lanes, 101);
      std::vector<float> result(n, -99), wanted(n, -99);
      REQUIRE(kernel.run({input.data()}, result.data()) == 0);
      for (int column = 0; column < columns; ++column)
        for (int lane = 0; lane < lanes; ++lane) wanted[lane * pitch + column] = input[column * lanes + lane];
      CHECK(result == wanted);
    }
}

TEST_CASE("strided stores that meet keep their order, and one that reads what another wrote sees it") {
  const Buffer a = make_buffer("a", kFloat32, {8}), out = make_buffer("out", kFloat32, {64});
  const auto at = [](int64_t offset) { return ramp(int_imm(offset), int_imm(2), 4); };
  const Expr x = load(a, {ramp(int_imm(0), int_imm(1), 4)}), y = load(a, {ramp(int_imm(4), int_imm(1), 4)});
  SECTION("overlapping") {
    Kernel kernel(run_module({a}, out, make_seq({store(out, at(2), x), store(out, at(0), y)})), host());
    const auto input = ramp_values(8, 11);
    std::vector<float> result(64, -1);
    REQUIRE(kernel.run({input.data()}, result.data()) == 0);
    CHECK(std::vector<float>(result.begin(), result.begin() + 9) ==
          std::vector<float>{input[4], -1, input[5], -1, input[6], -1, input[7], -1, input[3]});
  }
  SECTION("reading") {
    Kernel kernel(run_module({a}, out, make_seq({store(out, at(0), x), store(out, at(1), load(out, {at(0)}) + y)})),
                  host());
    const auto input = ramp_values(8, 11);
    std::vector<float> result(64, -1);
    REQUIRE(kernel.run({input.data()}, result.data()) == 0);
    for (int lane = 0; lane < 4; ++lane) CHECK(result[2 * lane + 1] == input[lane] + input[4 + lane]);
  }
}

TEST_CASE("each thread of a parallel loop knows which one it is") {
  const Buffer out = make_buffer("out", kInt32, {9});
  const Var i = make_var("i");
  const Expr worker = call("worker", kInt64, {});
  const auto body = store(out, var_expr(i), cast(kInt32, worker));
  std::vector<int32_t> result(9, -1);
  Kernel kernel(run_module({}, out, loop(i, 9, body, LoopKind::Parallel)), host(), 3);
  REQUIRE(kernel.run({}, result.data()) == 0);
  CHECK(result == std::vector<int32_t>{0, 0, 0, 1, 1, 1, 2, 2, 2});
  Kernel alone(run_module({}, out, loop(i, 9, body, LoopKind::Parallel)), host(), 1);
  REQUIRE(alone.run({}, result.data()) == 0);
  CHECK(result == std::vector<int32_t>(9, 0));
}
