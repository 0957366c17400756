// Who makes artifacts of candidates: the loop's view of building.
#pragma once
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "runtime/runtime.h"
#include "target/target.h"

namespace farm {

/// Everything that a build depends on, as values: it crosses to another process.
struct BuildJob {
  std::string task;  ///< Task::text()
  Target target;
  int threads = 1;
  std::string candidate;  ///< Candidate::text()
};

struct BuildResult {
  std::optional<Artifact> artifact;  ///< nothing: it failed (outcome build_failed)
  std::string error;                 ///< why
  Hash program;                      ///< of the lowered program; zero when it never got that far
  std::vector<std::string> trace;    ///< executed primitives
  int64_t build_ns = 0;              ///< spent on instantiating, compiling and linking
};

class Builder {
 public:
  virtual ~Builder() = default;
  /// Begins to build; the results come in the order of the jobs. A candidate that cannot be built is a result; an Error
  /// means that nothing can be built here (no process, no compiler).
  virtual std::vector<std::future<Result<BuildResult>>> start(std::vector<BuildJob> jobs) = 0;
};

void encode(ByteWriter& out, const BuildJob& value);
void decode(ByteReader& in, BuildJob& value);
void encode(ByteWriter& out, const BuildResult& value);
void decode(ByteReader& in, BuildResult& value);

}  // namespace farm
