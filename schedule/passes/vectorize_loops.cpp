#include "schedule/passes/passes.h"
#include "schedule/tree.h"

namespace farm {
namespace {

// Puts `lanes` values of one loop variable into every expression at once. What does not use it stays scalar and is
// widened where it meets a vector.
class Vectorizer {
 public:
  Vectorizer(Var var, int lanes) : var_(std::move(var)), lanes_(lanes) {}

  Result<Stmt> stmt(const Stmt& s, const Expr& mask) {
    if (const auto* node = s->as<Store>()) return store(*node, mask);
    if (const auto* node = s->as<If>()) return guard(*node, mask);
    if (const auto* node = s->as<For>()) {
      For copy = *node;
      FARM_TRY(copy.body, stmt(node->body, mask));
      return make_stmt(std::move(copy));
    }
    if (const auto* node = s->as<Seq>()) {
      std::vector<Stmt> stmts;
      for (const auto& child : node->stmts) {
        FARM_TRY(Stmt next, stmt(child, mask));
        stmts.push_back(next);
      }
      return make_seq(std::move(stmts));
    }
    return fail(ErrorCode::InvalidArgument, "vectorize: the loop ", var_->name, " holds an allocation or a call");
  }

 private:
  Result<Stmt> store(const Store& node, const Expr& mask) {
    Expr index = vector_index(node.indices[0]);
    if (index->lanes == 1)
      return fail(ErrorCode::InvalidArgument, "vectorize: every lane of ", var_->name, " would write the same element of ",
                  node.buffer->name);
    Expr value = expr(node.value, mask);
    if (value->lanes == 1) value = broadcast(value, lanes_);
    return make_stmt(Store{node.buffer, {index}, value, mask && mask->lanes == 1 ? broadcast(mask, lanes_) : mask});
  }

  Result<Stmt> guard(const If& node, const Expr& mask) {
    if (!uses_var(node.condition, var_)) {
      If copy = node;
      FARM_TRY(copy.then, stmt(node.then, mask));
      if (node.otherwise) {
        FARM_TRY(copy.otherwise, stmt(node.otherwise, mask));
      }
      return make_stmt(std::move(copy));
    }
    if (node.otherwise) return fail(ErrorCode::InvalidArgument, "vectorize: a branch with two sides depends on ", var_->name);
    std::vector<Expr> scalar, lanes;
    for (const auto& one : conjuncts(node.condition)) (uses_var(one, var_) ? lanes : scalar).push_back(one);
    Expr condition = expr(conjunction(lanes), nullptr);
    FARM_TRY(Stmt then, stmt(node.then, mask ? logical_and(mask, condition) : condition));
    return scalar.empty() ? then : make_stmt(If{conjunction(scalar), then, nullptr, node.droppable});
  }

  Expr vector_index(const Expr& e) {
    if (!uses_var(e, var_)) return e;
    LinearForm form = linear_form(e, {{var_, {0, lanes_ - 1}}});
    if (form.nonlinear_in(var_)) return elementwise(e, nullptr);
    int64_t stride = form.coeff_of(var_);
    form.add(var_expr(var_), -stride);
    if (stride == 0) return to_expr(form);
    return ramp(to_expr(form), int_imm(stride), lanes_);
  }

  Expr expr(const Expr& e, const Expr& mask) {
    bool uses = uses_var(e, var_);
    if (e->kind == ExprKind::Load) {
      if (!uses) return e;
      Expr own = e->masked ? expr(e->args[1], nullptr) : nullptr;
      Expr both = own && mask ? logical_and(mask, own) : own ? own : mask;
      Expr index = vector_index(e->args[0]);
      // A scalar load that the guard does not cover could fault: it keeps its own mask only.
      if (index->lanes == 1) return own ? masked_load(e->buffer, index, own) : load(e->buffer, {index});
      return both ? masked_load(e->buffer, index, both) : load(e->buffer, {index});
    }
    if (!uses) return e;
    if (e->dtype == kInt64) return vector_index(e);
    return elementwise(e, mask);
  }

  Expr elementwise(const Expr& e, const Expr& mask) {
    if (e->kind == ExprKind::Var) return e->var == var_ ? ramp(int_imm(0), int_imm(1), lanes_) : e;
    std::vector<Expr> args;
    for (const auto& arg : e->args) args.push_back(expr(arg, mask));
    switch (e->kind) {
      case ExprKind::Select: return select(args[0], args[1], args[2]);
      case ExprKind::Cast: return cast(e->dtype, args[0]);
      case ExprKind::Call: return call(e->name, e->dtype, args);
      case ExprKind::Not: return logical_not(args[0]);
      case ExprKind::IntImm:
      case ExprKind::FloatImm: return e;
      default: return binary(e->kind, args[0], args[1]);
    }
  }

  Var var_;
  int lanes_;
};

}  // namespace

Status vectorize_loops(Module& module, int) {
  for (auto& function : module.functions) {
    Status status;
    function.body = rewrite_stmt(function.body, [&](const Stmt& s) -> Stmt {
      const auto* loop = s->as<For>();
      if (!status || !loop || loop->kind != LoopKind::Vectorized) return nullptr;
      Vectorizer vectorizer(loop->var, static_cast<int>(loop_range(*loop).extent()));
      auto body = vectorizer.stmt(loop->body, nullptr);
      if (body) return *body;
      status = std::unexpected(body.error());
      return nullptr;
    });
    FARM_CHECK(status);
  }
  return {};
}

}  // namespace farm
