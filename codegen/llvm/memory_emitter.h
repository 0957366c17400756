// Loads and stores of the lowered level: one flat index, whatever its lanes look like.
#pragma once
#include "codegen/llvm/environment.h"
#include "codegen/llvm/mask.h"

namespace farm::codegen {

/// Reads `buffer` at `index`; lanes that `mask` switches off read 0 and touch no memory.
llvm::Value* emit_load(Environment& env, const Buffer& buffer, const Expr& index, const Mask& mask);

/// Writes the lanes of `value` that `mask` leaves on.
void emit_store(Environment& env, const Buffer& buffer, const Expr& index, llvm::Value* value, const Mask& mask);

}  // namespace farm::codegen
