// Primitives one by one, what they refuse, and random legal sequences of them against the untransformed program.
#include "schedule/primitives.h"

#include <cmath>

#include "base/rng.h"
#include "schedule/interpreter.h"
#include "schedule/lower.h"
#include "testing.h"

namespace farm {
namespace {

// out[m,n] = sum k a[m,k] b[k,n], then scaled = out * 2 + a[m,0]
Compute two_stages(int64_t m_size, int64_t n_size, int64_t k_size) {
  Compute compute;
  Buffer a = make_buffer("a", kFloat32, {m_size, k_size}), b = make_buffer("b", kFloat32, {k_size, n_size});
  compute.inputs = {{a, false}, {b, false}};
  Var m = make_var("m"), n = make_var("n"), k = make_var("k");
  Buffer product = make_buffer("product", kFloat32, {m_size, n_size}, Scope::Workspace);
  compute.stages.push_back({product, {{m, m_size}, {n, n_size}}, {{k, k_size}},
                            load(a, {var_expr(m), var_expr(k)}) * load(b, {var_expr(k), var_expr(n)})});
  Var row = make_var("row"), column = make_var("column");
  compute.stages.push_back({make_buffer("scaled", kFloat32, {m_size, n_size}), {{row, m_size}, {column, n_size}}, {},
                            load(product, {var_expr(row), var_expr(column)}) * float_imm(2) + load(a, {var_expr(row), int_imm(0)})});
  return compute;
}

std::vector<std::vector<float>> small_inputs(const Compute& compute) {
  std::vector<std::vector<float>> inputs;
  for (const auto& input : compute.inputs) {
    std::vector<float> values(static_cast<size_t>(element_count(input.buffer->shape)));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(static_cast<int>(i * 7 % 11) - 5) / 4;
    inputs.push_back(values);
  }
  return inputs;
}

// Small fractions of two: sums are exact, so that any order of them gives the same.
void check_equal_to_evaluation(const Schedule& schedule, const Compute& compute) {
  auto module = schedule.finish();
  INFO((module ? "" : module.error().message));
  REQUIRE(module);
  auto resolved = resolve(*module, 2);
  REQUIRE(resolved);
  auto lowered = lower(*resolved, 2);
  INFO((lowered ? to_string(*lowered) : lowered.error().message));
  REQUIRE(lowered);
  auto inputs = small_inputs(compute);
  auto wanted = evaluate(compute, inputs);
  for (const Module* level : {&*resolved, &*lowered}) {
    auto output = interpret(*level, inputs);
    INFO((output ? "" : output.error().message));
    REQUIRE(output);
    for (size_t i = 0; i < wanted.size(); ++i) REQUIRE((*output)[i] == static_cast<float>(wanted[i]));
  }
}

std::string refusal(const Schedule& schedule) {
  auto module = schedule.finish();
  return module ? "accepted" : module.error().message;
}

}  // namespace

TEST_CASE("the plain nest computes what the compute says") {
  Compute compute = two_stages(5, 6, 4);
  check_equal_to_evaluation(Schedule(compute), compute);
}

TEST_CASE("a producer moved into its consumer's loop computes just the part that is read there") {
  Compute compute = two_stages(5, 6, 4);
  Schedule s(compute);
  auto [outer, inner] = s.split(s.loops("scaled")[0], 2);
  s.compute_at("product", outer);
  auto product_loops = s.loops("product");
  CHECK(s.extent(product_loops[1]) == 2);
  check_equal_to_evaluation(s, compute);
}

TEST_CASE("an epilogue moves behind the tile that it reads, and not into an unfinished reduction") {
  Compute compute = two_stages(6, 8, 4);
  {
    Schedule s(compute);
    auto l = s.loops("product");
    s.set_scope("product", Scope::Register);
    auto [mo, mi] = s.split(l[0], 3);
    auto [no, ni] = s.split(l[1], 4);
    s.reorder({mo, no, l[2], mi, ni});
    s.reverse_compute_at("scaled", no);
    s.vectorize(ni);
    s.unroll(mi);
    s.decompose_reduction("product", l[2]);
    check_equal_to_evaluation(s, compute);
  }
  Schedule s(compute);
  s.reverse_compute_at("scaled", s.loops("product")[2]);
  CHECK(refusal(s) == "reverse_compute_at(scaled, k): the reduction of product goes on outside that loop");
}

TEST_CASE("what would change the result is refused with the reason") {
  Compute compute = two_stages(4, 4, 4);
  auto refused = [&](auto apply) {
    Schedule s(compute);
    apply(s);
    return refusal(s);
  };
  CHECK(refused([](Schedule& s) { s.split(s.loops("product")[0], 0); }) == "split(m, 0): the factor must be at least 1");
  CHECK(refused([](Schedule& s) { s.vectorize(s.loops("product")[2]); }) == "vectorize(k): the loop runs over a reduction");
  CHECK(refused([](Schedule& s) { s.parallel(s.loops("product")[2]); }) == "parallel(k): the loop runs over a reduction");
  CHECK(refused([](Schedule& s) { s.fuse(s.loops("product")[0], s.loops("product")[2]); }) ==
        "fuse(m, k): the second loop is not the only thing in the first");
  CHECK(refused([](Schedule& s) { s.reorder({s.loops("product")[0], s.loops("scaled")[0]}); }) ==
        "reorder(m, row): the loops are not on one chain");
  CHECK(refused([](Schedule& s) { s.compute_inline("product"); }) == "compute_inline(product): the block reduces");
  CHECK(refused([](Schedule& s) { s.compute_inline("scaled"); }) ==
        "compute_inline(scaled): it makes the result: nothing reads it");
  CHECK(refused([](Schedule& s) { s.pack_constant("product", "b", {{1, 4}, {0}, {1, 1, 4}}); }) ==
        "pack_constant(product, b, [1/4, 0, 1%4]): the operand is not constant");
  CHECK(refused([](Schedule& s) { s.decompose_reduction("scaled", s.loops("scaled")[0]); }) ==
        "decompose_reduction(scaled, row): the block does not reduce");
  CHECK(refused([](Schedule& s) { s.unroll(make_var("elsewhere")); }) == "unroll(elsewhere): no loop elsewhere");
}

TEST_CASE("a packed copy has whole panels, filled up with zeros") {
  Compute compute = two_stages(3, 5, 4);
  Schedule s(compute);
  std::string copy = s.cache_read("product", "b", Scope::Workspace, {{1, 4}, {0}, {1, 1, 4}});
  check_equal_to_evaluation(s, compute);
}

TEST_CASE("replaying equal primitives gives the same module, letter by letter") {
  Compute compute = two_stages(6, 8, 4);
  auto text = [&] {
    Schedule s(compute);
    auto [outer, inner] = s.split(s.loops("product")[1], 4);
    s.vectorize(inner);
    return to_string(*s.finish());
  };
  CHECK(text() == text());
}

namespace {

// One random primitive on a random loop or block; illegal ones are undone by keeping the schedule from before.
void random_step(Schedule& s, Rng& rng) {
  std::string block = rng.chance(0.6) ? "product" : "scaled";
  auto loops = s.loops(block);
  if (loops.empty()) return;
  Var loop = loops[rng.below(loops.size())];
  switch (rng.below(9)) {
    case 0:
    case 1: s.split(loop, 1 + static_cast<int64_t>(rng.below(5))); break;
    case 2: s.split_whole(loop, 1 + static_cast<int64_t>(rng.below(8))); break;
    case 3: {
      auto order = loops;
      rng.shuffle(order);
      s.reorder({order[0], order[order.size() / 2]});
      break;
    }
    case 4: s.fuse(loop, loops[rng.below(loops.size())]); break;
    case 5: s.unroll(loop); break;
    case 6: s.vectorize(loop); break;
    case 7: rng.chance(0.5) ? s.parallel(loop) : s.compute_at("product", loop); break;
    default: rng.chance(0.5) ? (void)s.decompose_reduction("product", loop) : s.reverse_compute_at("scaled", loop); break;
  }
}

}  // namespace

TEST_CASE("random legal sequences of primitives change nothing of the result") {
  int applied = 0;
  for (uint64_t seed = 0; seed < 150; ++seed) {
    Rng rng(seed);
    Compute compute = two_stages(1 + static_cast<int64_t>(rng.below(7)), 1 + static_cast<int64_t>(rng.below(9)), 1 + static_cast<int64_t>(rng.below(5)));
    Schedule s(compute);
    for (int step = 0; step < 8; ++step) {
      Schedule next = s;
      random_step(next, rng);
      auto module = next.finish();
      if (!module) continue;
      auto resolved = resolve(*module, 2);
      if (!resolved || !lower(*resolved, 2)) continue;  // refused later on, with a reason (a vector of nothing)
      s = next;
      ++applied;
    }
    std::string trace;
    for (const auto& line : s.trace()) trace += line + "; ";
    INFO("seed " << seed << ": " << trace);
    check_equal_to_evaluation(s, compute);
  }
  CHECK(applied > 300);  // otherwise the test proves little
}

}  // namespace farm
