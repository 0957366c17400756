// Expressions become values.
#pragma once
#include "codegen/llvm/environment.h"
#include "codegen/llvm/mask.h"

namespace farm::codegen {

/// The value of `expr` at the insertion point. Loads that `predicate` switches off read 0 and touch no memory.
llvm::Value* emit_expr(Environment& env, const Expr& expr, const Mask& predicate = {});

/// A bool expression as a mask; what is the same in all lanes stays a scalar.
Mask emit_condition(Environment& env, const Expr& condition, const Mask& predicate = {});

/// A linear form without its lane constants, as i64.
llvm::Value* emit_terms(Environment& env, const Linear& linear);

}  // namespace farm::codegen
