// What a function under construction knows: where its buffers are, what its loop variables hold.
#pragma once
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "codegen/llvm/index_facts.h"

namespace farm::codegen {

/// What the code is made for.
struct CodeOptions {
  int threads = 1;             ///< 1: parallel loops run serially, no call context is used
  bool aligned_packed = true;  ///< the packed block lies at a multiple of 64 bytes
  bool fma = false;            ///< the machine multiplies and adds in one instruction
};

struct BufferPlace {
  llvm::Value* pointer = nullptr;
  llvm::Align align;  ///< of the first element
};

/// A loop around the current statement (the first one is the function): its first block, which runs once an iteration
/// whatever the body branches on, and what was computed there to be shared.
struct Frame {
  llvm::BasicBlock* block = nullptr;
  std::vector<std::pair<Expr, llvm::Value*>> atoms;
  std::map<std::tuple<llvm::Value*, llvm::Value*, int64_t>, llvm::Value*> steps;  ///< pointer, index, bytes
};

struct Environment {
  llvm::Module& module;
  llvm::IRBuilder<> ir;
  CodeOptions options;
  llvm::Function* function = nullptr;
  llvm::Value* call_context = nullptr;  ///< null inside a parallel body: what is nested there runs serially
  llvm::Value* worker = nullptr;        ///< Call "worker": which of the parallel loop's threads; null outside of one
  std::unordered_map<Var, llvm::Value*> vars;
  std::unordered_map<Buffer, BufferPlace> buffers;
  IndexFacts facts;
  std::vector<Frame> frames;
  int fence = 0;   ///< the fence before the current statement; 0: none. See behind_fence
  int fences = 0;  ///< so far in this function
  std::map<std::tuple<llvm::Value*, llvm::BasicBlock*, int>, llvm::Value*> behind_fences;
  std::optional<std::string>& problem;  ///< the first construct that has no code; emission goes on with poison

  void report(const std::string& what) {
    if (!problem) problem = what;
  }
};

/// The type of one element in a register (bool is i1) and in memory (bool is a byte). Reports what has none.
llvm::Type* value_type(Environment& env, DType dtype, int lanes = 1);
llvm::Type* memory_type(Environment& env, DType dtype, int lanes = 1);

}  // namespace farm::codegen
