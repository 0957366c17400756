#include "schedule/passes/passes.h"
#include "schedule/tree.h"

namespace farm {

static Stmt unroll(const Stmt& stmt, int64_t& budget) {
  return rewrite_stmt(stmt, [&](const Stmt& s) -> Stmt {
    const auto* loop = s->as<For>();
    if (!loop || loop->kind != LoopKind::Unrolled) return nullptr;
    std::vector<Stmt> copies;
    for (int64_t i = 0; i < loop_range(*loop).extent(); ++i) {
      if (--budget < 0) return s;
      copies.push_back(rewrite_exprs(loop->body, [&](const Expr& e) -> Expr {
        return e->kind == ExprKind::Var && e->var == loop->var ? int_imm(i) : nullptr;
      }));
    }
    return make_seq(std::move(copies));
  });
}

Status unroll_loops(Module& module, int) {
  for (auto& function : module.functions) {
    int64_t budget = 4096;  // copies of bodies: beyond it a candidate is absurd, not slow
    function.body = unroll(function.body, budget);
    if (budget < 0) return fail(ErrorCode::InvalidArgument, "unroll: ", function.name, " grows beyond 4096 copies");
  }
  return {};
}

}  // namespace farm
