// For tests: builds a hand-written lowered module and calls it in this process.
#pragma once
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "codegen/codegen.h"
#include "testing.h"

namespace farm::codegen_test {

inline Target host() { return describe_host(); }

/// The fixed targets whose code tests look at, whatever this machine is.
inline Target named(const char* name) { return target_from_name(name).value(); }

/// A module with one Run function.
inline Module run_module(std::vector<Buffer> inputs, Buffer output, Stmt body) {
  Module module;
  module.inputs = inputs;
  module.output = output;
  Function run{.name = "run", .role = FunctionRole::Run, .params = inputs, .body = std::move(body)};
  run.params.push_back(output);
  module.functions.push_back(std::move(run));
  return module;
}

inline Stmt loop(const Var& var, int64_t extent, Stmt body, LoopKind kind = LoopKind::Serial) {
  return make_stmt(For{.var = var, .extent = int_imm(extent), .kind = kind, .body = std::move(body)});
}
inline Stmt store(const Buffer& buffer, Expr index, Expr value, Expr mask = nullptr) {
  return make_stmt(
      Store{.buffer = buffer, .indices = {std::move(index)}, .value = std::move(value), .mask = std::move(mask)});
}

/// Runs ranges one after another as three workers would, and counts how it was called.
struct SerialPool {
  farm_call_context context{.parallel_for = &SerialPool::parallel_for, .pool = this};
  int calls = 0;

  static void parallel_for(farm_call_context* context, int64_t count, farm_parallel_body body, void* closure) {
    ++static_cast<SerialPool*>(context->pool)->calls;
    for (int32_t worker = 2; worker >= 0; --worker) body(closure, count * worker / 3, count * (worker + 1) / 3, worker);
  }
};

/// A shared object as dlopen sees it, in a file of this process's own.
class Loaded {
 public:
  explicit Loaded(const std::vector<std::byte>& bytes) {
    char path[] = "/tmp/farm_codegen_XXXXXX";
    const int descriptor = mkstemp(path);
    REQUIRE(descriptor >= 0);
    REQUIRE(write(descriptor, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    close(descriptor);
    handle_ = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    std::filesystem::remove(path);
    INFO((handle_ ? "" : dlerror()));
    REQUIRE(handle_ != nullptr);
  }
  ~Loaded() { dlclose(handle_); }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  template <class T>
  T symbol(const std::string& name) const {
    auto* address = reinterpret_cast<T>(dlsym(handle_, name.c_str()));
    INFO(name);
    REQUIRE(address != nullptr);
    return address;
  }

 private:
  void* handle_ = nullptr;
};

/// A built kernel with its blocks of memory.
class Kernel {
 public:
  Kernel(const Module& module, const Target& target, int threads = 1)
      : artifact_(build(module, target, threads)), loaded_(artifact_.blob) {}

  int run(const std::vector<const void*>& inputs, void* output) {
    std::vector<void*> args;
    for (const void* input : inputs) args.push_back(const_cast<void*>(input));
    if (artifact_.packed_bytes > 0) args.push_back(packed_.resize_to(artifact_.packed_bytes));
    args.push_back(output);
    args.push_back(workspace_.resize_to(artifact_.workspace_bytes));
    return loaded_.symbol<int32_t (*)(farm_call_context*, void* const*)>("farm_run")(&pool_.context, args.data());
  }

  int prepack(const std::vector<const void*>& constants) {
    std::vector<void*> args;
    for (const void* constant : constants) args.push_back(const_cast<void*>(constant));
    args.push_back(packed_.resize_to(artifact_.packed_bytes));
    return loaded_.symbol<int32_t (*)(farm_call_context*, void* const*)>("farm_prepack")(&pool_.context, args.data());
  }

  const Artifact& artifact() const { return artifact_; }
  int parallel_calls() const { return pool_.calls; }

 private:
  static Artifact build(const Module& module, const Target& target, int threads) {
    auto artifact = make_llvm_backend()->build(module, target, threads);
    INFO((artifact ? "" : artifact.error().message));
    REQUIRE(artifact.has_value());
    return *std::move(artifact);
  }

  /// Bytes at a multiple of 64; keeps its content.
  class Block {
   public:
    void* resize_to(int64_t bytes) {
      if (storage_.empty()) storage_.resize(static_cast<size_t>(bytes) / 64 + 1);
      return storage_.data();
    }

   private:
    struct alignas(64) Line {
      std::byte bytes[64];
    };
    std::vector<Line> storage_;
  };

  Artifact artifact_;
  Loaded loaded_;
  SerialPool pool_;
  Block packed_, workspace_;
};

/// Small whole numbers, so that sums are exact in any order.
inline std::vector<float> ramp_values(size_t count, int period = 7) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(static_cast<int>(i) % period - period / 2);
  return values;
}

}  // namespace farm::codegen_test
