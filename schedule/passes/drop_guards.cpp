#include <algorithm>

#include "schedule/passes/passes.h"
#include "schedule/tree.h"

namespace farm {
namespace {

// What is known at a place: ranges of the loops, and the conditions around it.
struct Knowledge {
  VarBounds bounds;
  std::vector<Expr> facts;
  VarBounds unrolled, vectorized;  // of the loops, those that will be expanded
};

// Narrows the range of `form` by a fact (sum < constant, as simplified) when the form holds a multiple of that sum.
void narrow(Interval& range, const LinearForm& form, const Expr& fact, const VarBounds& bounds) {
  if (fact->kind != ExprKind::Lt && fact->kind != ExprKind::Le) return;
  LinearForm sum = linear_form(fact->args[0] - fact->args[1], bounds);
  int64_t most = -sum.constant - (fact->kind == ExprKind::Lt ? 1 : 0);
  sum.constant = 0;
  if (sum.terms.empty()) return;
  int64_t factor = 0;
  for (const auto& term : form.terms)
    if (same_expr(term.expr, sum.terms[0].expr) && term.coeff % sum.terms[0].coeff == 0) factor = term.coeff / sum.terms[0].coeff;
  LinearForm rest = form;
  rest.add(sum, -factor);
  auto others = interval_of(rest, bounds);
  if (!others || factor == 0) return;
  if (factor > 0) range.hi = std::min(range.hi, others->hi + factor * most);
  else range.lo = std::max(range.lo, others->lo + factor * most);
}

bool inside(const Buffer& buffer, const std::vector<Expr>& indices, const Knowledge& known) {
  for (size_t d = 0; d < indices.size(); ++d) {
    if (indices[d]->kind == ExprKind::Call) continue;  // the worker's own part
    LinearForm form = linear_form(indices[d], known.bounds);
    auto range = interval_of(form, known.bounds);
    if (!range) return false;
    for (const auto& fact : known.facts) narrow(*range, form, fact, known.bounds);
    if (range->lo < 0 || range->hi >= buffer->shape[d]) return false;
  }
  return true;
}

Knowledge with_facts(Knowledge known, const Expr& condition) {
  for (const auto& fact : conjuncts(condition)) known.facts.push_back(fact);
  return known;
}

// A load under a select is guarded by the select's own condition, as far as that goes.
bool loads_inside(const Expr& expr, const Knowledge& known) {
  if (expr->kind == ExprKind::Select)
    return loads_inside(expr->args[1], with_facts(known, expr->args[0])) && loads_inside(expr->args[2], known);
  if (expr->kind == ExprKind::Load && !inside(expr->buffer, expr->args, known)) return false;
  return std::all_of(expr->args.begin(), expr->args.end(), [&](const Expr& arg) { return loads_inside(arg, known); });
}

bool accesses_inside(const Stmt& stmt, Knowledge known) {
  if (const auto* node = stmt->as<For>()) {
    known.bounds[node->var] = loop_range(*node);
    return accesses_inside(node->body, std::move(known));
  }
  if (const auto* node = stmt->as<Seq>())
    return std::all_of(node->stmts.begin(), node->stmts.end(), [&](const Stmt& child) { return accesses_inside(child, known); });
  if (const auto* node = stmt->as<Allocate>()) return accesses_inside(node->body, std::move(known));
  if (const auto* node = stmt->as<If>()) return !node->otherwise && accesses_inside(node->then, with_facts(known, node->condition));
  if (const auto* node = stmt->as<Store>())
    return inside(node->buffer, node->indices, known) && loads_inside(node->value, known);
  return false;
}

Stmt drop(const Stmt& stmt, Knowledge known);

// `condition` at its easiest over the lanes of each vector, when nothing but expanded loops decides it: after unrolling,
// whole vectors are then computed or left out. Null when other loops take part.
Expr by_vector(const Expr& condition, const Knowledge& known) {
  if (condition->kind != ExprKind::Lt && condition->kind != ExprKind::Le) return nullptr;
  LinearForm difference = linear_form(condition->args[0] - condition->args[1], known.bounds);
  bool unrolled = false;
  for (auto& term : difference.terms) {
    if (term.expr->kind != ExprKind::Var) return nullptr;
    auto lanes = known.vectorized.find(term.expr->var);
    if (lanes != known.vectorized.end()) {
      difference.constant += std::min(term.coeff * lanes->second.lo, term.coeff * lanes->second.hi);
      term.coeff = 0;
    } else if (known.unrolled.contains(term.expr->var)) {
      unrolled = true;
    } else {
      return nullptr;
    }
  }
  std::erase_if(difference.terms, [](const LinearForm::Term& term) { return term.coeff == 0; });
  return unrolled ? simplify(binary(condition->kind, to_expr(difference), int_imm(0)), known.bounds) : nullptr;
}

// Each condition by itself: without it, do the others still keep every access inside?
Stmt drop_from(const If& node, const Knowledge& known) {
  std::vector<Expr> kept = conjuncts(node.condition);
  for (size_t i = 0; node.droppable && i < kept.size();) {
    Expr whole_vectors = by_vector(kept[i], known);
    Knowledge without = whole_vectors ? with_facts(known, whole_vectors) : known;
    for (size_t j = 0; j < kept.size(); ++j)
      if (j != i) without.facts.push_back(kept[j]);
    bool safe = accesses_inside(node.then, without);
    if (safe && whole_vectors && !is_const_int(whole_vectors, 1)) kept[i++] = whole_vectors;
    else if (safe) kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i));
    else ++i;
  }
  Stmt then = drop(node.then, with_facts(known, conjunction(kept)));
  return kept.empty() ? then : make_stmt(If{conjunction(kept), then, nullptr, node.droppable});
}

Stmt drop(const Stmt& stmt, Knowledge known) {
  if (const auto* node = stmt->as<For>()) {
    known.bounds[node->var] = loop_range(*node);
    if (node->kind == LoopKind::Unrolled) known.unrolled[node->var] = loop_range(*node);
    if (node->kind == LoopKind::Vectorized) known.vectorized[node->var] = loop_range(*node);
    For copy = *node;
    copy.body = drop(node->body, std::move(known));
    return make_stmt(std::move(copy));
  }
  if (const auto* node = stmt->as<Allocate>()) return make_stmt(Allocate{node->buffer, drop(node->body, std::move(known))});
  if (const auto* node = stmt->as<Seq>()) {
    std::vector<Stmt> stmts;
    for (const auto& child : node->stmts) stmts.push_back(drop(child, known));
    return make_seq(std::move(stmts));
  }
  if (const auto* node = stmt->as<If>(); node && !node->otherwise) return drop_from(*node, known);
  return stmt;
}

}  // namespace

Status drop_guards(Module& module, int) {
  for (auto& function : module.functions) function.body = drop(function.body, {});
  return {};
}

}  // namespace farm
