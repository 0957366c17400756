// Addresses of linear accesses.
#pragma once
#include "codegen/llvm/environment.h"

namespace farm::codegen {

/// `base` + `bytes` * (the terms of `index`, without its lane constants).
///
/// Each term is added in the first block of the loop that it changes in, outermost first, and shared by all accesses of
/// that loop: what does not change in a loop is outside of it from the start, and unrolled accesses differ only in the
/// constant of their addressing mode. (LLVM would get there too, but its LICM also hoists each such constant for
/// itself, a pointer an access, and runs out of registers.)
llvm::Value* emit_address(Environment& env, llvm::Value* base, const Linear& index, int64_t bytes);

}  // namespace farm::codegen
