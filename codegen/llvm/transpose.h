// Runs of strided stores that together write contiguous elements: a register tile that leaves turned around.
#pragma once
#include <span>

#include "codegen/llvm/environment.h"

namespace farm::codegen {

/// How many of the first statements are stores that may be written together: unmasked vectors into one buffer that none
/// of them reads, with one stride above 1, no element twice. 0 when the first one is no such store.
size_t strided_run(const Environment& env, std::span<const Stmt> stmts);

/// Emits such a run. Where 4 or 2 of its vectors lie side by side they are transposed in registers, so that 4 or 2
/// elements leave with one store; the rest leaves element by element.
void emit_strided_run(Environment& env, std::span<const Stmt> stores);

}  // namespace farm::codegen
