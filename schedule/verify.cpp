#include "schedule/verify.h"

#include <algorithm>
#include <unordered_set>

#include "schedule/tree.h"

namespace farm {
namespace {

class Verifier {
 public:
  Verifier(const Function& function, bool lowered) : function_(function), lowered_(lowered) {
    for (const auto* list : {&function.params, &function.workspace, &function.locals})
      buffers_.insert(list->begin(), list->end());
  }

  Status run() {
    stmt(function_.body);
    if (problem_.empty()) return {};
    return fail(ErrorCode::InvalidArgument, function_.name, ": ", problem_);
  }

 private:
  template <class... Parts>
  void complain(const Parts&... parts) {
    if (problem_.empty()) problem_ = detail::concat(parts...);
  }

  void stmt(const Stmt& s) {
    if (!s || !problem_.empty()) return;
    if (const auto* node = s->as<For>()) loop(*node);
    else if (const auto* node = s->as<Block>()) block(*node);
    else if (const auto* node = s->as<Seq>()) for (const auto& child : node->stmts) stmt(child);
    else if (const auto* node = s->as<Store>()) store(*node);
    else if (const auto* node = s->as<If>()) {
      expr(node->condition);
      if (node->condition->dtype != kBool) complain("a condition is no bool: ", to_string(node->condition));
      stmt(node->then);
      stmt(node->otherwise);
    } else if (const auto* node = s->as<Allocate>()) {
      bool added = buffers_.insert(node->buffer).second;
      stmt(node->body);
      if (added) buffers_.erase(node->buffer);
    }
  }

  void loop(const For& node) {
    auto extent = const_int(node.extent);
    if (!extent || *extent < 1) complain("loop ", node.var->name, " has extent ", to_string(node.extent));
    if (lowered_ && node.kind != LoopKind::Serial && node.kind != LoopKind::Parallel)
      complain("loop ", node.var->name, " is neither serial nor parallel");
    if (!vars_.insert(node.var).second) complain("loop ", node.var->name, " is nested in itself");
    stmt(node.body);
    vars_.erase(node.var);
  }

  void block(const Block& node) {
    if (lowered_) return complain("block ", node.name, " is left");
    for (const auto& iter : node.iters) expr(iter.binding);
    if (node.predicate) expr(node.predicate);
    for (const auto& iter : node.iters) vars_.insert(iter.var);
    stmt(node.init);
    stmt(node.body);
    for (const auto& iter : node.iters) vars_.erase(iter.var);
  }

  void store(const Store& node) {
    access(node.buffer, node.indices);
    expr(node.value);
    if (node.value->dtype != node.buffer->dtype) complain("a ", to_string(node.value->dtype), " is stored in ", node.buffer->name);
    int lanes = 1;
    for (const auto& index : node.indices) lanes = std::max(lanes, index->lanes);
    if (lanes != node.value->lanes) complain(node.value->lanes, " lanes are stored at ", lanes, " indices of ", node.buffer->name);
    if (!node.mask) return;
    expr(node.mask);
    if (node.mask->lanes != lanes) complain("the mask of a store to ", node.buffer->name, " has ", node.mask->lanes, " lanes");
  }

  void access(const Buffer& buffer, const std::vector<Expr>& indices) {
    if (!buffers_.contains(buffer)) complain("buffer ", buffer->name, " is not in sight");
    size_t wanted = lowered_ ? 1 : buffer->shape.size();
    if (indices.size() != wanted) complain("buffer ", buffer->name, " is accessed with ", indices.size(), " indices");
    for (const auto& index : indices) expr(index);
  }

  void expr(const Expr& e) {
    if (e->kind == ExprKind::Var && !vars_.contains(e->var)) complain("variable ", e->var->name, " is not in sight");
    if (e->kind == ExprKind::Load) {
      std::vector<Expr> indices = e->args;
      if (e->masked) {
        expr(indices.back());
        if (indices.back()->lanes != e->lanes && indices.back()->lanes != 1) complain("a mask of ", e->buffer->name, " has other lanes");
        indices.pop_back();
      }
      return access(e->buffer, indices);
    }
    for (const auto& arg : e->args) expr(arg);
  }

  const Function& function_;
  bool lowered_;
  std::unordered_set<Buffer> buffers_;
  std::unordered_set<Var> vars_;
  std::string problem_;
};

Status verify(const Module& module, bool lowered) {
  for (const auto& function : module.functions) FARM_CHECK(Verifier(function, lowered).run());
  return {};
}

}  // namespace

Status verify_scheduled(const Module& module) { return verify(module, false); }
Status verify_lowered(const Module& module) { return verify(module, true); }

}  // namespace farm
