// Statements become control flow.
#pragma once
#include "codegen/llvm/environment.h"

namespace farm::codegen {

/// Emits `stmt` at the insertion point. Constructs that the lowered level does not have are reported.
void emit_stmt(Environment& env, const Stmt& stmt);

/// for var in begin .. end: body.  A loop that surely runs has no check before its first iteration.
void emit_loop(Environment& env, const Var& var, llvm::Value* begin, llvm::Value* end, Interval range, bool surely_runs,
               const Stmt& body);

}  // namespace farm::codegen
