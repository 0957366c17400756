#pragma once
#include "benchmarks/vendor/contender.h"

namespace farm::vendor {

struct CompileOptions {
  std::string compile_program;  ///< path of `compile`
  std::string folder;           ///< where the library is written; the caller's
  std::string database;         ///< empty: compile's default
  int threads = 1;
};

struct Ours {
  Contender contender;
  std::string schedule;  ///< "tuned" or "default"
};

Result<Ours> compile_ours(const Task& task, const CompileOptions& options, const Inputs& inputs);

}  // namespace farm::vendor
