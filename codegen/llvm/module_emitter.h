// A lowered module becomes an LLVM module.
#pragma once
#include <llvm/IR/Module.h>

#include <memory>

#include "base/result.h"
#include "codegen/llvm/environment.h"

namespace farm::codegen {

inline constexpr const char* kRunSymbol = "farm_run";
inline constexpr const char* kPrepackSymbol = "farm_prepack";

/// Adds farm_run and, with constants, farm_prepack (see runtime/kernel_abi.h) to `into`.
/// Fails on what the lowered level does not have or this back end cannot do; `into` is then useless.
Status emit_module(const Module& module, const CodeOptions& options, llvm::Module& into);

}  // namespace farm::codegen
