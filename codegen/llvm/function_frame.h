// The functions that generated code consists of and the pointers that they are handed.
#pragma once
#include <string>
#include <vector>

#include "codegen/llvm/environment.h"

namespace farm::codegen {

/// A buffer where the caller has it.
struct Operand {
  Buffer buffer;
  BufferPlace place;
};

/// An internal function whose buffers are `noalias` parameters (pointers loaded from memory would not be): first the
/// buffers, then `values`. The names are for people.
struct FrameParameter {
  llvm::Type* type;
  std::string name;
};
llvm::Function* make_body_function(llvm::Module& module, const std::string& name, const std::vector<Operand>& operands,
                                   const std::vector<FrameParameter>& values);

/// Puts a function's buffer parameters into `env` and its insertion point into a new entry block.
void enter_body_function(Environment& env, llvm::Function* function, const std::vector<Operand>& operands);

/// Bytes of a buffer in memory.
int64_t buffer_bytes(const Buffer& buffer);

}  // namespace farm::codegen
