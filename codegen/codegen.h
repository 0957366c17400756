// Door of the room `codegen`: a lowered module becomes an artifact.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/runtime.h"
#include "schedule/schedule.h"

namespace farm {

/// One way to make artifacts. An object serves one thread at a time; several objects may work side by side, but LLD is
/// not reentrant and links one after another.
class Backend {
 public:
  virtual ~Backend() = default;
  /// `module` must be lowered. Errors are candidate faults (outcome build_failed), never the machine's.
  virtual Result<Artifact> build(const Module& module, const Target& target, int threads) = 0;
};

/// LLVM 19 in process, linked by LLD in process to a position-independent shared object; no compiler is called.
std::unique_ptr<Backend> make_llvm_backend();

/// What `compile` writes: a shared library with C entry points, needing nothing but libc, libm, libpthread.
///   int    NAME(operands..., out)                packs the constants at each call, then runs
///   size_t NAME_packed_bytes(void)
///   int    NAME_prepack(constants..., packed)
///   int    NAME_run(inputs..., packed, out)      `packed` is left out when there are no constants
/// Tensors are dense and row-major, aligned to their elements. 0 is success, 1 means out of memory. Calls keep no state
/// but the library's own pool of `threads` threads, made at the first one; any thread may call at any time, and who
/// finds the pool busy runs alone.
struct LibraryOptions {
  std::string name;  ///< a C identifier
  int threads = 1;
  std::vector<std::string> operands;  ///< buffer names in the task's order; empty: inputs, then constants
  std::string comment;                ///< goes into the header: task, schedule, record; may have several lines
  std::map<std::string, Shape> shapes;  ///< by buffer name, for the header: lowered buffers are flat; may be empty
};
struct Library {
  std::vector<std::byte> shared_object;
  std::string header;
};
/// `module` must be lowered for `options.threads`. InvalidArgument when the name is no C identifier, `operands` does not
/// name the module's inputs and constants, once each, or libraries for such a target are not made here; NoCandidate when
/// there is no code for what the module does; Unavailable when the machine lacks memory.
Result<Library> build_library(const Module& module, const Target& target, const LibraryOptions& options);

/// The LLVM IR and the assembly of a module, for people.
struct Listing {
  std::string ir, assembly;
};
Result<Listing> list_code(const Module& module, const Target& target, int threads);

/// Name and version of what generates code: "llvm 19.1.7"; stored with each record.
std::string codegen_version();

}  // namespace farm
