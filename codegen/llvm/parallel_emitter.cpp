#include "codegen/llvm/parallel_emitter.h"

#include <algorithm>
#include <unordered_set>

#include "codegen/llvm/expr_emitter.h"
#include "codegen/llvm/function_frame.h"
#include "codegen/llvm/stmt_emitter.h"

namespace farm::codegen {
namespace {

/// What the body of a loop takes from around it, in the order of first use.
struct Captures {
  std::vector<Operand> operands;
  std::vector<Var> vars;
};

class CaptureFinder {
 public:
  explicit CaptureFinder(const Environment& env) : env_(env) {}

  Captures find(const Stmt& body) {
    visit_stmt(body, [&](const Stmt& stmt) {
      if (const auto* store = stmt->as<Store>()) add(store->buffer);
    });
    visit_exprs(body, [&](const Expr& expr) {
      visit(expr, [&](const ExprNode& node) {
        if (node.buffer) add(node.buffer);
        if (node.var) add(node.var);
      });
    });
    return std::move(captures_);
  }

 private:
  void add(const Buffer& buffer) {
    const auto place = env_.buffers.find(buffer);
    if (place != env_.buffers.end() && seen_.insert(buffer.get()).second)
      captures_.operands.push_back({buffer, place->second});
  }
  void add(const Var& var) {
    if (env_.vars.contains(var) && seen_.insert(var.get()).second) captures_.vars.push_back(var);
  }

  const Environment& env_;
  Captures captures_;
  std::unordered_set<const void*> seen_;
};

/// { ptr buffers..., i64 vars... }
llvm::StructType* closure_type(Environment& env, const Captures& captures) {
  std::vector<llvm::Type*> fields(captures.operands.size(), env.ir.getPtrTy());
  fields.resize(fields.size() + captures.vars.size(), env.ir.getInt64Ty());
  return llvm::StructType::get(env.module.getContext(), fields);
}

llvm::Function* emit_body(const Environment& outer, const For& loop, const Captures& captures) {
  std::vector<FrameParameter> values;
  values.reserve(captures.vars.size() + 3);
  auto* i64 = llvm::Type::getInt64Ty(outer.module.getContext());
  for (const auto& var : captures.vars) values.push_back({i64, var->name});
  values.push_back({i64, "begin"});
  values.push_back({i64, "end"});
  values.push_back({i64, "worker"});

  Environment env{.module = outer.module,
                  .ir = llvm::IRBuilder<>(outer.module.getContext()),
                  .options = outer.options,
                  .facts = outer.facts,
                  .problem = outer.problem};
  auto* function =
      make_body_function(env.module, outer.function->getName().str() + "." + loop.var->name, captures.operands, values);
  enter_body_function(env, function, captures.operands);
  size_t at = captures.operands.size();
  for (const auto& var : captures.vars) {
    env.facts.bind(var, outer.facts.range_of(var), 0);
    env.vars[var] = function->getArg(at++);
  }
  const Interval count = outer.facts.interval(loop.extent);
  llvm::Value* begin = function->getArg(at);
  env.worker = function->getArg(at + 2);
  emit_loop(env, loop.var, begin, function->getArg(at + 1), {0, count.high - 1}, false, loop.body);
  env.ir.CreateRetVoid();
  return function;
}

/// void worker(ptr closure, i64 begin, i64 end, i32 worker): unpacks the closure and calls the body.
llvm::Function* emit_worker(Environment& outer, llvm::Function* body, llvm::StructType* closure) {
  auto& context = outer.module.getContext();
  llvm::IRBuilder<> ir(context);
  auto* type = llvm::FunctionType::get(ir.getVoidTy(),
                                       {ir.getPtrTy(), ir.getInt64Ty(), ir.getInt64Ty(), ir.getInt32Ty()}, false);
  auto* worker =
      llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, body->getName() + ".worker", outer.module);
  ir.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", worker));
  std::vector<llvm::Value*> arguments;
  arguments.reserve(closure->getNumElements() + 3);
  for (unsigned i = 0; i < closure->getNumElements(); ++i)
    arguments.push_back(ir.CreateLoad(closure->getElementType(i), ir.CreateStructGEP(closure, worker->getArg(0), i)));
  arguments.push_back(worker->getArg(1));
  arguments.push_back(worker->getArg(2));
  arguments.push_back(ir.CreateSExt(worker->getArg(3), ir.getInt64Ty()));
  ir.CreateCall(body, arguments);
  ir.CreateRetVoid();
  return worker;
}

llvm::Value* emit_closure(Environment& env, llvm::StructType* type, const Captures& captures) {
  auto& entry = env.function->getEntryBlock();
  llvm::Value* closure = llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(type, nullptr, "closure");
  unsigned field = 0;
  for (const auto& operand : captures.operands)
    env.ir.CreateStore(operand.place.pointer, env.ir.CreateStructGEP(type, closure, field++));
  for (const auto& var : captures.vars)
    env.ir.CreateStore(env.vars.at(var), env.ir.CreateStructGEP(type, closure, field++));
  return closure;
}

}  // namespace

void emit_parallel(Environment& env, const For& loop) {
  const Captures captures = CaptureFinder(env).find(loop.body);
  llvm::StructType* type = closure_type(env, captures);
  llvm::Function* worker = emit_worker(env, emit_body(env, loop, captures), type);
  llvm::Value* closure = emit_closure(env, type, captures);

  // parallel_for is the context's first field.
  auto& ir = env.ir;
  auto* signature =
      llvm::FunctionType::get(ir.getVoidTy(), {ir.getPtrTy(), ir.getInt64Ty(), ir.getPtrTy(), ir.getPtrTy()}, false);
  llvm::Value* extent = ir.CreateIntCast(emit_expr(env, loop.extent), ir.getInt64Ty(), true);
  llvm::Value* parallel_for = ir.CreateLoad(ir.getPtrTy(), env.call_context, "parallel_for");
  ir.CreateCall(signature, parallel_for, {env.call_context, extent, worker, closure});
}

}  // namespace farm::codegen
