#include "codegen/llvm/address.h"

#include <llvm/IR/InlineAsm.h>

#include "codegen/llvm/expr_emitter.h"

namespace farm::codegen {
namespace {

/// Whether computing `expr` earlier, perhaps needlessly, is harmless.
bool can_move(const Expr& expr) {
  bool movable = true;
  visit(expr, [&](const ExprNode& node) {
    const bool division = node.kind == ExprKind::FloorDiv || node.kind == ExprKind::FloorMod;
    if (division) movable &= const_int(node.args[1]).value_or(0) > 0;
    if (node.kind == ExprKind::Load) movable = false;
    if (node.kind == ExprKind::Call) movable &= node.name == "worker";  // a parameter of the function
  });
  return movable;
}

llvm::Value* atom_in_frame(Environment& env, Frame& frame, const Expr& atom) {
  for (const auto& [known, value] : frame.atoms)
    if (same_expr(known, atom)) return value;
  const llvm::IRBuilder<>::InsertPointGuard guard(env.ir);
  env.ir.SetInsertPoint(frame.block->getTerminator());
  llvm::Value* value = env.ir.CreateIntCast(emit_expr(env, atom), env.ir.getInt64Ty(), true);
  frame.atoms.emplace_back(atom, value);
  return value;
}

llvm::Value* step(llvm::IRBuilder<>& ir, llvm::Value* pointer, llvm::Value* index, int64_t bytes) {
  return ir.CreateGEP(ir.getInt8Ty(), pointer, ir.CreateNSWMul(index, ir.getInt64(bytes)));
}

llvm::Value* step_in_frame(Frame& frame, llvm::Value* pointer, llvm::Value* index, int64_t bytes) {
  auto& known = frame.steps[{pointer, index, bytes}];
  if (known == nullptr) {
    llvm::IRBuilder<> ir(frame.block->getTerminator());
    known = step(ir, pointer, index, bytes);
  }
  return known;
}

/// The same pointer; but the compiler cannot know that, so what was loaded through it before the fence is loaded anew
/// instead of being kept in a register that an accumulator needs.
llvm::Value* behind_fence(Environment& env, llvm::Value* pointer) {
  auto& known = env.behind_fences[{pointer, env.ir.GetInsertBlock(), env.fence}];
  if (known == nullptr) {
    auto* type = llvm::FunctionType::get(env.ir.getPtrTy(), {env.ir.getPtrTy()}, false);
    known = env.ir.CreateCall(type, llvm::InlineAsm::get(type, "", "=r,0", /*hasSideEffects=*/true), {pointer});
  }
  return known;
}

}  // namespace

llvm::Value* emit_address(Environment& env, llvm::Value* base, const Linear& index, int64_t bytes) {
  llvm::Value* pointer = base;
  bool moving = true;  // what follows a term that has to stay stays too
  for (const auto& term : index.terms) {
    moving = moving && can_move(term.atom);
    if (moving) {
      Frame& frame = env.frames.at(static_cast<size_t>(term.depth));
      pointer = step_in_frame(frame, pointer, atom_in_frame(env, frame, term.atom), term.coefficient * bytes);
    } else {
      llvm::Value* atom = env.ir.CreateIntCast(emit_expr(env, term.atom), env.ir.getInt64Ty(), true);
      pointer = step(env.ir, pointer, atom, term.coefficient * bytes);
    }
  }
  return env.fence == 0 || llvm::isa<llvm::AllocaInst>(base) ? pointer : behind_fence(env, pointer);
}

}  // namespace farm::codegen
