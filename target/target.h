// What a device is: enough to choose, compile and judge kernels for it without asking it anything more.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "target/board.h"

namespace farm {

/// A CPU as the code generator and the default schedules see it.
///
/// Two ways to get one: the device describes itself (`describe_host`), or a person names an ISA level or a CPU
/// (`target_from_name`), in which case caches are those of a typical member and peak rates are zero (unknown).
struct Target {
  std::string isa;                    ///< ISA level: "x86-64-v3", "aarch64"
  std::string cpu;                    ///< LLVM's name: "znver3"; equals `isa` when only the level is known
  std::vector<std::string> features;  ///< LLVM's names, sorted, all that the device has and we know: "avx2", "fma"
  std::string model;                  ///< what the maker calls it: "AMD EPYC 7763"; may be empty
  int vector_bits = 128;              ///< widest float vector that the ISA level has; 32 where it has none
  int vector_registers = 16;
  int cores = 1;                                                    ///< cores that a kernel may use
  int64_t l1_bytes = 32 << 10, l2_bytes = 512 << 10, l3_bytes = 0;  ///< data caches; l1, l2 a core, l3 whole
  int64_t memory_bytes = 0;
  double peak_gflops_core = 0;  ///< float32 FMA, one core, as measured by the device; 0 when unknown
  bool emulated = false;        ///< another machine plays this CPU: right in everything but time

  /// "x86-64-v3/znver3", "aarch64/cortex-a72+emulated": what records are filed under, so that those of an emulator are
  /// never taken for a device's. Holds no cores and no caches.
  std::string text() const { return (isa == cpu ? isa : isa + "/" + cpu) + (emulated ? "+emulated" : ""); }
  bool has(std::string_view feature) const;
  /// float32 lanes of one vector register.
  int float_lanes() const { return vector_bits / 32; }
  bool operator==(const Target&) const = default;
};

/// "x86-64", "aarch64", "armv7" or "riscv64": what code of an ISA level runs on at all.
std::string_view isa_family(std::string_view isa);

/// The machine this runs on, as its CPU and /sys tell; `peak_gflops_core` stays 0 (the device measures it).
Target describe_host();

/// The same device as if it only had `isa`: features and vectors beyond it are gone, and so is the CPU's name,
/// so that its records are kept apart. Fails when the device lacks the level.
Result<Target> narrow(const Target& target, std::string_view isa);

/// "x86-64-v3", "znver3", or "x86-64-v3/znver3", each with "+emulated" where that is meant. Fails with the nearest
/// names.
Result<Target> target_from_name(std::string_view name);

/// Every name that target_from_name takes.
std::vector<std::string> target_names();

/// Whether code that uses all of `other`'s features runs on `target`: one family, and all of them there.
bool features_cover(const Target& target, const Target& other);

}  // namespace farm
