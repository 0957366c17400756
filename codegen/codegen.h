// Door of the room `codegen`: a lowered module becomes an artifact.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/runtime.h"
#include "schedule/schedule.h"

namespace farm {

/// One way to make artifacts. Not thread-safe: one a process (LLD is not reentrant).
class Backend {
 public:
  virtual ~Backend() = default;
  /// `module` must be lowered. Errors are candidate faults (outcome build_failed), never the machine's.
  virtual Result<Artifact> build(const Module& module, const Target& target, int threads) = 0;
};

/// LLVM 19 in process, linked by LLD in process to a position-independent shared object; no compiler is called.
std::unique_ptr<Backend> make_llvm_backend();

/// What `compile` writes: a shared library with C entry points, needing nothing but libc, libm, libpthread.
struct LibraryOptions {
  std::string name;    ///< C identifier: my_conv, my_conv_prepack, my_conv_packed_bytes, my_conv_run
  int threads = 1;     ///< of the embedded pool
  std::string comment; ///< goes into the header: task, schedule, record
};
struct Library {
  std::vector<std::byte> shared_object;
  std::string header;
};
Result<Library> build_library(const Module& module, const Target& target, const LibraryOptions& options);

/// The LLVM IR and the assembly of a module, for people.
struct Listing {
  std::string ir, assembly;
};
Result<Listing> list_code(const Module& module, const Target& target, int threads);

/// Name and version of what generates code: "llvm 19.1.7"; stored with each record.
std::string codegen_version();

}  // namespace farm
