// What a built kernel is: everything a device needs to load, check and run it.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/hash.h"

namespace farm {

enum class ArtifactFormat : uint8_t { Elf, Ptx, Cubin, OpenCl, Vta };

/// A built kernel. The blob of an Elf artifact is a position-independent shared object that exports `run_symbol` and,
/// with constants, `prepack_symbol` (both `farm_kernel`, see kernel_abi.h) and imports only names of the allow-list.
struct Artifact {
  ArtifactFormat format = ArtifactFormat::Elf;
  std::string isa;                    ///< least ISA level: "x86-64-v3"
  std::vector<std::string> features;  ///< CPU features that the code may use
  std::vector<TensorType> inputs;     ///< non-constant operands, in call order
  std::vector<TensorType> constants;  ///< constant operands, in prepack's order
  TensorType output;
  int64_t packed_bytes = 0;     ///< 0 without constants
  int64_t workspace_bytes = 0;  ///< one call's scratch
  int threads = 1;              ///< workers that the call context should have
  double flops = 0;             ///< nominal work of one run
  std::string run_symbol = "farm_run";
  std::string prepack_symbol = "farm_prepack";
  std::vector<std::byte> blob;

  bool operator==(const Artifact&) const = default;
};

/// Of everything above: equal artifacts are shipped once.
Hash artifact_hash(const Artifact& artifact);

}  // namespace farm
