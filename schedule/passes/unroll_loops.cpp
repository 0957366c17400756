#include <algorithm>

#include "schedule/passes/passes.h"
#include "schedule/tree.h"

namespace farm {
namespace {

constexpr int64_t kMostCopies = 4096;  // beyond it a candidate is absurd, not slow

// A loop whose copies add to the same elements: each copy is one step of a reduction.
bool accumulates(const For& loop) {
  bool found = false;
  visit_stmt(loop.body, [&](const Stmt& s) {
    if (const auto* store = s->as<Store>()) found |= !uses_var(store->indices[0], loop.var);
  });
  return found;
}

// Accumulators in three quarters of the registers or more: 16 of them with vectors of 8 floats, 32 with 16.
bool registers_are_tight(const Stmt& body) {
  int accumulators = 0, lanes = 1;
  visit_stmt(body, [&](const Stmt& s) {
    const auto* store = s->as<Store>();
    if (!store || store->buffer->scope != Scope::Register) return;
    ++accumulators;
    lanes = std::max(lanes, store->value->lanes);
  });
  return 4 * accumulators >= 3 * (lanes >= 16 ? 32 : 16);
}

Stmt fence() { return make_stmt(Evaluate{call("fence", kInt64, {}), {}, {}}); }

// Neighbouring steps of a convolution read the same elements. A compiler keeps those in registers, which is worth less
// than the accumulators that it then spills; a fence between the steps makes it load them anew.
Stmt expand(const For& loop, int64_t& budget) {
  bool fenced = accumulates(loop) && registers_are_tight(loop.body);
  std::vector<Stmt> copies;
  for (int64_t i = 0; i < loop_range(loop).extent(); ++i) {
    if (--budget < 0) return nullptr;
    if (fenced && i > 0) copies.push_back(fence());
    copies.push_back(rewrite_exprs(loop.body, [&](const Expr& e) -> Expr {
      return e->kind == ExprKind::Var && e->var == loop.var ? int_imm(i) : nullptr;
    }));
  }
  return make_seq(std::move(copies));
}

}  // namespace

Status unroll_loops(Module& module, int) {
  for (auto& function : module.functions) {
    int64_t budget = kMostCopies;
    function.body = rewrite_stmt(function.body, [&](const Stmt& s) -> Stmt {
      const auto* loop = s->as<For>();
      return loop && loop->kind == LoopKind::Unrolled ? expand(*loop, budget) : nullptr;
    });
    if (budget < 0)
      return fail(ErrorCode::InvalidArgument, "unroll: ", function.name, " grows beyond ", kMostCopies, " copies");
  }
  return {};
}

}  // namespace farm
