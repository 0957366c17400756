#include <unordered_map>

#include "schedule/passes/passes.h"

namespace farm {
namespace {

class Flattener {
 public:
  // The same buffer always becomes the same flat one.
  Buffer flat(const Buffer& buffer) {
    auto& entry = flat_[buffer];
    if (!entry) entry = make_buffer(buffer->name, buffer->dtype, {element_count(buffer->shape)}, buffer->scope);
    return entry;
  }

  Stmt stmt(const Stmt& root) {
    return rewrite_stmt(root, [&](const Stmt& s) -> Stmt {
      if (const auto* node = s->as<Store>())
        return make_stmt(Store{flat(node->buffer), {index(node->buffer, node->indices)}, expr(node->value, nullptr),
                               node->mask ? expr(node->mask, nullptr) : nullptr});
      if (const auto* node = s->as<If>())
        return make_stmt(If{expr(node->condition, nullptr), node->then, node->otherwise, node->droppable});
      if (const auto* node = s->as<Allocate>()) return make_stmt(Allocate{flat(node->buffer), node->body});
      return nullptr;
    });
  }

 private:
  Expr index(const Buffer& buffer, const std::vector<Expr>& indices) {
    Expr sum = int_imm(0);
    for (size_t d = 0; d < indices.size(); ++d) sum = sum * buffer->shape[d] + expr(indices[d], nullptr);
    return sum;
  }

  // `mask`: the conditions of the selects around, null at the top.
  Expr expr(const Expr& e, const Expr& mask) {
    if (e->args.empty()) return e;
    if (e->kind == ExprKind::Load) {
      Expr at = index(e->buffer, e->args);
      return mask ? masked_load(flat(e->buffer), at, mask) : load(flat(e->buffer), {at});
    }
    if (e->kind == ExprKind::Select) return select_expr(e, mask);
    return rewrite_args(e, mask);
  }

  Expr select_expr(const Expr& e, const Expr& mask) {
    Expr condition = expr(e->args[0], mask);
    auto both = [&](const Expr& more) { return mask ? logical_and(mask, more) : more; };
    Expr yes = expr(e->args[1], both(condition));
    bool zero_otherwise = e->args[2]->kind == ExprKind::FloatImm && e->args[2]->float_value == 0;
    if (yes->kind == ExprKind::Load && zero_otherwise) return yes;  // masked-off lanes read as zero anyway
    Expr no = e->args[2]->args.empty() ? e->args[2] : expr(e->args[2], both(logical_not(condition)));
    return select(condition, yes, no);
  }

  Expr rewrite_args(const Expr& e, const Expr& mask) {
    std::vector<Expr> args;
    bool changed = false;
    for (const auto& arg : e->args) {
      args.push_back(expr(arg, mask));
      changed |= args.back() != arg;
    }
    if (!changed) return e;
    switch (e->kind) {
      case ExprKind::Cast: return cast(e->dtype, args[0]);
      case ExprKind::Call: return call(e->name, e->dtype, args);
      case ExprKind::Not: return logical_not(args[0]);
      default: return binary(e->kind, args[0], args[1]);
    }
  }

  std::unordered_map<Buffer, Buffer> flat_;
};

}  // namespace

Status flatten_buffers(Module& module, int) {
  Flattener flattener;
  auto each = [&](std::vector<Buffer>& buffers) {
    for (auto& buffer : buffers) buffer = flattener.flat(buffer);
  };
  for (auto& function : module.functions) {
    function.body = flattener.stmt(function.body);
    each(function.params);
    each(function.workspace);
  }
  each(module.inputs);
  each(module.constants);
  each(module.packed);
  module.output = flattener.flat(module.output);
  return {};
}

}  // namespace farm
