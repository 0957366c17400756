#include <algorithm>

#include "schedule/box.h"
#include "schedule/passes/passes.h"
#include "schedule/tree.h"

namespace farm {
namespace {

constexpr int64_t kStackBytes = 16 << 10;  // larger thread buffers go to the workspace: stacks are small on boards

struct Access {
  std::vector<For> loops;  // around it, outermost first
  std::vector<Expr> indices;
};

void collect(const Stmt& stmt, const Buffer& buffer, std::vector<For>& loops, std::vector<Access>& accesses) {
  auto scan = [&](const Expr& root) {
    if (!root) return;
    rewrite(root, [&](const Expr& e) -> Expr {
      if (e->kind == ExprKind::Load && e->buffer == buffer) accesses.push_back({loops, e->args});
      return nullptr;
    });
  };
  if (const auto* node = stmt->as<For>()) {
    loops.push_back(*node);
    collect(node->body, buffer, loops, accesses);
    loops.pop_back();
  } else if (const auto* node = stmt->as<Seq>()) {
    for (const auto& child : node->stmts) collect(child, buffer, loops, accesses);
  } else if (const auto* node = stmt->as<If>()) {
    scan(node->condition);
    collect(node->then, buffer, loops, accesses);
    if (node->otherwise) collect(node->otherwise, buffer, loops, accesses);
  } else if (const auto* node = stmt->as<Allocate>()) {
    collect(node->body, buffer, loops, accesses);
  } else if (const auto* node = stmt->as<Store>()) {
    if (node->buffer == buffer) accesses.push_back({loops, node->indices});
    for (const auto& index : node->indices) scan(index);
    scan(node->value);
  }
}

size_t common_loops(const std::vector<Access>& accesses) {
  size_t common = accesses.front().loops.size();
  for (const auto& access : accesses) {
    size_t same = 0;
    while (same < std::min(common, access.loops.size()) && access.loops[same].var == accesses.front().loops[same].var) ++same;
    common = same;
  }
  return common;
}

VarBounds bounds_of(const std::vector<For>& loops, size_t begin, size_t end) {
  VarBounds bounds;
  for (size_t i = begin; i < end; ++i) bounds[loops[i].var] = loop_range(loops[i]);
  return bounds;
}

Stmt move_accesses(const Stmt& root, const Buffer& from, const std::function<Expr(const std::vector<Expr>&)>& moved_load,
                   const std::function<Stmt(const Store&)>& moved_store) {
  Stmt loads = rewrite_exprs(root, [&](const Expr& e) -> Expr {
    return e->kind == ExprKind::Load && e->buffer == from ? moved_load(e->args) : nullptr;
  });
  return rewrite_stmt(loads, [&](const Stmt& s) -> Stmt {
    const auto* store = s->as<Store>();
    return store && store->buffer == from ? moved_store(*store) : nullptr;
  });
}

void place(Function& function, const Buffer& buffer, int threads) {
  std::vector<Access> accesses;
  std::vector<For> loops;
  collect(function.body, buffer, loops, accesses);
  if (accesses.empty()) return;
  size_t common = common_loops(accesses);
  const std::vector<For> around(accesses.front().loops.begin(), accesses.front().loops.begin() + common);
  VarBounds outer = bounds_of(around, 0, common);
  BoxFinder finder(buffer);
  for (const auto& access : accesses) finder.add(access.indices, outer, bounds_of(access.loops, common, access.loops.size()));
  Box box = finder.box();

  bool in_parallel = std::any_of(around.begin(), around.end(), [](const For& l) { return l.kind == LoopKind::Parallel; });
  bool registers = buffer->scope == Scope::Register && common > 0;
  int64_t bytes = TensorType{buffer->dtype, box.extent}.bytes();
  bool allocate = registers || (in_parallel && bytes <= kStackBytes);
  bool per_worker = in_parallel && !allocate;

  Shape shape = box.extent;
  if (per_worker) shape.insert(shape.begin(), threads);
  Scope scope = registers ? Scope::Register : allocate ? Scope::Thread : Scope::Workspace;
  Buffer placed = make_buffer(buffer->name, buffer->dtype, shape, scope);
  auto shifted = [&](const std::vector<Expr>& indices) {
    std::vector<Expr> result;
    if (per_worker) result.push_back(call("worker", kInt64, {}));
    for (size_t d = 0; d < indices.size(); ++d) result.push_back(indices[d] - box.min[d]);
    return result;
  };
  auto move = [&](const Stmt& root) {
    return move_accesses(
        root, buffer, [&](const std::vector<Expr>& indices) { return load(placed, shifted(indices)); },
        [&](const Store& s) { return make_stmt(Store{placed, shifted(s.indices), s.value, s.mask}); });
  };
  function.body = move(function.body);
  if (!allocate) {
    function.workspace.push_back(placed);
    return;
  }
  Stmt loop = path_to_loop(function.body, around.back().var).back();
  For copy = *loop->as<For>();
  copy.body = make_stmt(Allocate{placed, copy.body});
  function.body = replace_stmt(function.body, loop, make_stmt(std::move(copy)));
}

}  // namespace

Status place_buffers(Module& module, int threads) {
  for (auto& function : module.functions) {
    for (const auto& buffer : function.locals) place(function, buffer, threads);
    function.locals.clear();
  }
  return {};
}

}  // namespace farm
