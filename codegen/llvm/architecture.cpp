#include "codegen/llvm/architecture.h"

#include <elf.h>
#include <llvm/Support/TargetSelect.h>

#include <algorithm>

#include "base/text.h"
#include "target/target.h"

namespace farm::codegen {
namespace {

constexpr const char* kX86Selectable[] = {
    "sse3",       "ssse3",      "sse4.1",     "sse4.2",      "sse4a",        "avx",          "avx2",
    "fma",        "fma4",       "f16c",       "bmi",         "bmi2",         "lzcnt",        "popcnt",
    "movbe",      "xop",        "tbm",        "avx512f",     "avx512bw",     "avx512cd",     "avx512dq",
    "avx512vl",   "avx512ifma", "avx512vbmi", "avx512vbmi2", "avx512vnni",   "avx512bitalg", "avx512vpopcntdq",
    "avx512bf16", "avx512fp16", "avxvnni",    "avxifma",     "avxneconvert", "avxvnniint8",  "gfni",
    "vaes",       "vpclmulqdq", "amx-tile",   "amx-int8",    "amx-bf16"};
constexpr const char* kAarch64Selectable[] = {"crc",  "dotprod", "fullfp16", "lse",  "rdm",
                                              "bf16", "i8mm",    "sve",      "sve2", "sme"};
constexpr const char* kArmSelectable[] = {"vfp4", "hwdiv", "hwdiv-arm", "fullfp16", "dotprod"};
constexpr const char* kRiscvSelectable[] = {"v", "zve64d", "zve32f", "zvfh"};

#define INITIALIZE(name)                \
  [] {                                  \
    LLVMInitialize##name##TargetInfo(); \
    LLVMInitialize##name##Target();     \
    LLVMInitialize##name##TargetMC();   \
    LLVMInitialize##name##AsmPrinter(); \
  }

constexpr Architecture kArchitectures[] = {
    {"x86-64", "x86_64-unknown-linux-gnu", "", "", false, EM_X86_64, kX86Selectable, "fma", INITIALIZE(X86)},
    {"aarch64", "aarch64-unknown-linux-gnu", "generic", "", false, EM_AARCH64, kAarch64Selectable, "neon",
     INITIALIZE(AArch64)},
    {"armv7", "armv7-unknown-linux-gnueabihf", "generic", "", true, EM_ARM, kArmSelectable, "vfp4", INITIALIZE(ARM)},
    {"riscv64", "riscv64-unknown-linux-gnu", "generic-rv64", "lp64d", false, EM_RISCV, kRiscvSelectable, "f",
     INITIALIZE(RISCV)},
};

}  // namespace

Result<const Architecture*> architecture_of(std::string_view isa) {
  const auto* found = std::ranges::find(kArchitectures, isa_family(isa), &Architecture::family);
  if (found != std::end(kArchitectures)) return found;
  std::vector<std::string> families;
  for (const auto& row : kArchitectures) families.emplace_back(row.family);
  return fail(ErrorCode::InvalidArgument, "codegen: no code generator for ", printable(isa), "; levels of ",
              join(families, ", "), " are possible");
}

}  // namespace farm::codegen
