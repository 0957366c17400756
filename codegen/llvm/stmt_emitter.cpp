#include "codegen/llvm/stmt_emitter.h"

#include <span>

#include "codegen/llvm/expr_emitter.h"
#include "codegen/llvm/function_frame.h"
#include "codegen/llvm/memory_emitter.h"
#include "codegen/llvm/parallel_emitter.h"
#include "codegen/llvm/transpose.h"

namespace farm::codegen {
namespace {

/// Larger scratch must lie in the workspace: stacks of worker threads are small on boards.
constexpr int64_t kStackBytes = 64 << 10;

bool is_fence(const Stmt& stmt) {
  const auto* evaluate = stmt->as<Evaluate>();
  return evaluate && evaluate->call->name == "fence";
}

class StmtEmitter {
 public:
  explicit StmtEmitter(Environment& env) : env_(env), ir_(env.ir) {}

  void operator()(const Seq& seq) {
    const std::span<const Stmt> stmts = seq.stmts;
    const int fence_around = env_.fence;
    for (size_t at = 0; at < stmts.size();) {
      if (is_fence(stmts[at])) {
        env_.fence = ++env_.fences;
        ++at;
        continue;
      }
      const size_t run = strided_run(env_, stmts.subspan(at));
      if (run < 2) {
        emit_stmt(env_, stmts[at++]);
        continue;
      }
      emit_strided_run(env_, stmts.subspan(at, run));
      at += run;
    }
    env_.fence = fence_around;
  }

  void operator()(const For& loop) {
    if (loop.kind != LoopKind::Serial && loop.kind != LoopKind::Parallel)
      return env_.report("loop " + loop.var->name + " is neither serial nor parallel: the module is not lowered");
    const auto extent = const_int(loop.extent);
    if (extent && *extent <= 0) return;
    if (extent == 1) return run_once(loop);
    if (loop.kind == LoopKind::Parallel && env_.call_context && env_.options.threads > 1)
      return emit_parallel(env_, loop);
    const Interval count = env_.facts.interval(loop.extent);
    llvm::Value* end = ir_.CreateIntCast(emit_expr(env_, loop.extent), ir_.getInt64Ty(), true);
    emit_loop(env_, loop.var, ir_.getInt64(0), end, {0, count.high - 1}, count.low > 0, loop.body);
  }

  void operator()(const Store& store) {
    if (store.indices.size() != 1)
      return env_.report("store to " + store.buffer->name + " has several indices: the module is not lowered");
    const Mask mask = store.mask ? emit_condition(env_, store.mask) : Mask{};
    if (mask.never()) return;
    // The value's own loads are switched off with the store: their addresses may lie outside.
    llvm::Value* value = emit_expr(env_, store.value, mask);
    emit_store(env_, store.buffer, store.indices[0], value, mask);
  }

  void operator()(const If& branch) {
    const Mask condition = emit_condition(env_, branch.condition);
    if (condition.always()) return emit_stmt(env_, branch.then);
    if (condition.never()) return branch.otherwise ? emit_stmt(env_, branch.otherwise) : void();
    if (condition.lanes) return env_.report("a branch on a vector condition");
    auto* then = block("then");
    auto* after = block("after");
    auto* otherwise = branch.otherwise ? block("otherwise") : after;
    ir_.CreateCondBr(condition.uniform, then, otherwise);
    emit_side(then, branch.then, after);
    if (branch.otherwise) emit_side(otherwise, branch.otherwise, after);
    ir_.SetInsertPoint(after);
  }

  void operator()(const Allocate& allocate) {
    const Buffer& buffer = allocate.buffer;
    if (buffer_bytes(buffer) > kStackBytes)
      return env_.report("buffer " + buffer->name + " needs " + std::to_string(buffer_bytes(buffer)) +
                         " bytes of a thread's stack, " + std::to_string(kStackBytes) + " are allowed");
    auto& entry = env_.function->getEntryBlock();
    llvm::IRBuilder<> at_entry(&entry, entry.begin());
    auto* type =
        llvm::ArrayType::get(memory_type(env_, buffer->dtype), static_cast<uint64_t>(element_count(buffer->shape)));
    auto* place = at_entry.CreateAlloca(type, nullptr, buffer->name);
    place->setAlignment(llvm::Align(64));
    env_.buffers[buffer] = {place, llvm::Align(64)};
    emit_stmt(env_, allocate.body);
    env_.buffers.erase(buffer);
  }

  void operator()(const Evaluate& evaluate) { emit_expr(env_, evaluate.call); }

  void operator()(const Block& block) { env_.report("block " + block.name + ": the module is not lowered"); }

 private:
  llvm::BasicBlock* block(const char* name) { return llvm::BasicBlock::Create(ir_.getContext(), name, env_.function); }

  void run_once(const For& loop) {
    env_.vars[loop.var] = ir_.getInt64(0);
    env_.facts.bind(loop.var, Interval::point(0), 0);
    emit_stmt(env_, loop.body);
  }

  void emit_side(llvm::BasicBlock* side, const Stmt& stmt, llvm::BasicBlock* after) {
    ir_.SetInsertPoint(side);
    emit_stmt(env_, stmt);
    ir_.CreateBr(after);
  }

  Environment& env_;
  llvm::IRBuilder<>& ir_;
};

}  // namespace

void emit_stmt(Environment& env, const Stmt& stmt) {
  if (stmt == nullptr || env.problem) return;
  std::visit(StmtEmitter(env), stmt->node);
}

void emit_loop(Environment& env, const Var& var, llvm::Value* begin, llvm::Value* end, Interval range, bool surely_runs,
               const Stmt& body) {
  auto& ir = env.ir;
  auto* loop = llvm::BasicBlock::Create(ir.getContext(), var->name, env.function);
  auto* inside = llvm::BasicBlock::Create(ir.getContext(), var->name + ".body", env.function);
  auto* after = llvm::BasicBlock::Create(ir.getContext(), var->name + ".end", env.function);
  auto* before = ir.GetInsertBlock();
  if (surely_runs)
    ir.CreateBr(loop);
  else
    ir.CreateCondBr(ir.CreateICmpSLT(begin, end), loop, after);

  ir.SetInsertPoint(loop);
  auto* counter = ir.CreatePHI(ir.getInt64Ty(), 2, var->name);
  counter->addIncoming(begin, before);
  ir.CreateBr(inside);
  ir.SetInsertPoint(inside);
  env.vars[var] = counter;
  env.facts.bind(var, range, static_cast<int>(env.frames.size()));
  env.frames.push_back({.block = loop});
  emit_stmt(env, body);
  env.frames.pop_back();

  llvm::Value* next = ir.CreateAdd(counter, ir.getInt64(1), "", true, true);
  counter->addIncoming(next, ir.GetInsertBlock());
  ir.CreateCondBr(ir.CreateICmpSLT(next, end), loop, after);
  ir.SetInsertPoint(after);
}

}  // namespace farm::codegen
