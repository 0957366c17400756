// Any legal candidate of any template computes what the reference computes: (shape, candidate) pairs by chance, built
// by the real code generator and run on a real device with guard zones around every buffer.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/runtime.h"

namespace farm {

struct PairOptions {
  uint64_t seed = 1;
  size_t pairs = 200;
  std::vector<std::string> ops;          ///< taken in turn; empty: all
  std::function<void(size_t)> progress;  ///< pairs done so far; may be empty
};

struct WrongPair {
  std::string task, target, candidate;
  int threads = 1;
  std::string reason;
};

struct PairReport {
  size_t pairs = 0;
  std::vector<WrongPair> wrong;
};

/// Pairs for the device's ISA level and the vector levels below it, on one thread and two. An Error means that the
/// device itself failed.
Result<PairReport> run_random_pairs(Device& device, const PairOptions& options);

/// "conv2d(...) for x86-64-v3 on 2 threads: direct{...}: wrong_result max error ..."
std::string to_string(const WrongPair& wrong);

}  // namespace farm
