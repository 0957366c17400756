// The start of a schedule, its bookkeeping and its end. The primitives themselves are in primitives_*.cpp.
#include "schedule/primitives.h"

#include <algorithm>

#include "schedule/tree.h"
#include "schedule/verify.h"

namespace farm {

// for axes.. for reduce.. block { out[axes] = body  or  out[axes] += body }
static Stmt nest_of_stage(const Stage& stage, const std::function<std::string(const std::string&)>& unique) {
  Block block;
  block.name = stage.output->name;
  std::vector<std::pair<Var, int64_t>> loops;
  std::vector<Expr> indices;
  auto add = [&](const Axis& axis, IterKind kind) {
    Var loop = make_var(unique(axis.var->name));
    block.iters.push_back({axis.var, axis.extent, kind, var_expr(loop)});
    loops.emplace_back(loop, axis.extent);
  };
  for (const auto& axis : stage.axes) {
    add(axis, IterKind::Spatial);
    indices.push_back(var_expr(axis.var));
  }
  for (const auto& axis : stage.reduce) add(axis, IterKind::Reduce);
  Expr value = stage.body;
  if (!stage.reduce.empty()) {
    block.init = make_stmt(Store{stage.output, indices, float_imm(0, stage.output->dtype), nullptr});
    value = load(stage.output, indices) + stage.body;
  }
  block.body = make_stmt(Store{stage.output, indices, value, nullptr});
  fill_regions(block);
  Stmt nest = make_stmt(std::move(block));
  for (size_t i = loops.size(); i-- > 0;)
    nest = make_stmt(For{loops[i].first, int_imm(loops[i].second), LoopKind::Serial, "", nest});
  return nest;
}

Schedule::Schedule(const Compute& compute) : compute_(compute) {
  for (const auto& input : compute.inputs) unique(input.buffer->name);
  std::vector<Stmt> nests;
  for (const auto& stage : compute.stages) {
    unique(stage.output->name);
    nests.push_back(nest_of_stage(stage, [this](const std::string& name) { return unique(name); }));
    if (stage.output != compute.output()) locals_.push_back(stage.output);
  }
  body_ = make_seq(std::move(nests));
}

void Schedule::reject(const std::string& what, const std::string& why) {
  if (!error_) error_ = Error{ErrorCode::InvalidArgument, what + ": " + why};
}

void Schedule::note(std::string line) { trace_.push_back(std::move(line)); }

std::string Schedule::unique(const std::string& name) {
  int count = names_[name]++;
  return count == 0 ? name : name + "_" + std::to_string(count);
}

const For* Schedule::find_loop(const Var& loop, const std::string& primitive) {
  if (error_) return nullptr;
  if (!loop) {
    reject(primitive, "no such loop");
    return nullptr;
  }
  auto path = path_to_loop(body_, loop);
  if (path.empty()) {
    reject(primitive, "no loop " + loop->name);
    return nullptr;
  }
  return path.back()->as<For>();
}

const Block* Schedule::find_block(const std::string& block, const std::string& primitive) {
  if (error_) return nullptr;
  auto path = path_to_block(body_, block);
  if (path.empty()) {
    reject(primitive, "no block " + block);
    return nullptr;
  }
  return path.back()->as<Block>();
}

std::vector<Var> Schedule::loops(const std::string& block) const {
  std::vector<Var> loops;
  for (const auto& stmt : path_to_block(body_, block))
    if (const auto* loop = stmt->as<For>()) loops.push_back(loop->var);
  return loops;
}

int64_t Schedule::extent(const Var& loop) const {
  auto path = path_to_loop(body_, loop);
  return path.empty() ? 1 : loop_range(*path.back()->as<For>()).extent();
}

// A plain copy, for a constant operand that no primitive packed.
static Stmt identity_copy(const Buffer& from, const Buffer& to) {
  Layout layout;
  Block block;
  block.name = to->name;
  std::vector<Expr> indices;
  std::vector<Var> loops;
  for (size_t d = 0; d < from->shape.size(); ++d) {
    std::string name = to->name + "_" + std::to_string(d);
    Var axis = make_var(name), loop = make_var(name);
    block.iters.push_back({axis, from->shape[d], IterKind::Spatial, var_expr(loop)});
    indices.push_back(var_expr(axis));
    loops.push_back(loop);
  }
  block.body = make_stmt(Store{to, indices, load(from, indices), nullptr});
  fill_regions(block);
  Stmt nest = make_stmt(std::move(block));
  for (size_t d = loops.size(); d-- > 0;)
    nest = make_stmt(For{loops[d], int_imm(from->shape[d]), LoopKind::Serial, "", nest});
  return nest;
}

static Stmt redirect_loads(const Stmt& body, const Buffer& from, const Buffer& to) {
  return rewrite_exprs(body, [&](const Expr& e) -> Expr {
    return e->kind == ExprKind::Load && e->buffer == from ? load(to, e->args) : nullptr;
  });
}

Result<Module> Schedule::finish() const {
  if (error_) return std::unexpected(*error_);
  Module module;
  module.flops = compute_.flops;
  module.output = compute_.output();
  Function run{"farm_run", FunctionRole::Run, {}, {}, locals_, body_};
  Function prepack{"farm_prepack", FunctionRole::Prepack, {}, {}, {}, nullptr};
  std::vector<Stmt> copies = prepack_;
  for (const auto& input : compute_.inputs) {
    if (!input.constant) {
      module.inputs.push_back(input.buffer);
      continue;
    }
    auto packed = std::find_if(packed_.begin(), packed_.end(), [&](const auto& p) { return p.first == input.buffer; });
    Buffer to = packed != packed_.end() ? packed->second
                                        : make_buffer(input.buffer->name + "_packed", input.buffer->dtype, input.buffer->shape);
    if (packed == packed_.end()) {
      copies.push_back(identity_copy(input.buffer, to));
      run.body = redirect_loads(run.body, input.buffer, to);
    }
    module.constants.push_back(input.buffer);
    module.packed.push_back(to);
  }
  run.params = module.inputs;
  run.params.insert(run.params.end(), module.packed.begin(), module.packed.end());
  run.params.push_back(module.output);
  module.functions.push_back(std::move(run));
  if (!module.constants.empty()) {
    prepack.params = module.constants;
    prepack.params.insert(prepack.params.end(), module.packed.begin(), module.packed.end());
    prepack.body = make_seq(std::move(copies));
    module.functions.push_back(std::move(prepack));
  }
  FARM_CHECK(verify_scheduled(module));
  return module;
}

}  // namespace farm
