#include "target/tables.h"

#include <algorithm>

#include "base/text.h"

namespace farm {

// Sources: x86-64 psABI, table "Micro-Architecture Levels"; Arm's and RISC-V's architecture manuals. Names of features
// are LLVM's. Where there are no vectors a register holds one float.
static constexpr IsaLevel kLevels[] = {
    {"x86-64", "", "sse2", 128, 16},
    {"x86-64-v2", "x86-64", "cx16 popcnt sahf sse3 sse4.1 sse4.2 ssse3", 128, 16},
    {"x86-64-v3", "x86-64-v2", "avx avx2 bmi bmi2 f16c fma lzcnt movbe xsave", 256, 16},
    {"x86-64-v4", "x86-64-v3", "avx512bw avx512cd avx512dq avx512f avx512vl", 512, 32},
    {"armv7", "", "neon", 128, 16},
    {"aarch64", "", "fp-armv8 neon", 128, 32},
    {"aarch64-v8.2", "aarch64", "crc dotprod fullfp16 lse rdm", 128, 32},
    {"riscv64", "", "a c d f m", 32, 32},
    {"riscv64-v", "riscv64", "v", 128, 32},
};

#define ICE_LAKE "avx512vnni avx512vbmi avx512vbmi2 avx512ifma avx512bitalg avx512vpopcntdq gfni vaes vpclmulqdq"
#define SAPPHIRE_RAPIDS ICE_LAKE " avx512bf16 avx512fp16 avxvnni amx-tile amx-int8 amx-bf16"

// Sources: the makers' manuals for caches (Arm's L2 and L3 are a board's choice: typical ones), LLVM for features.
static constexpr CpuRow kCpus[] = {
    {"haswell", "x86-64-v3", "", 32, 256, 8192},
    {"broadwell", "x86-64-v3", "", 32, 256, 8192},
    {"skylake", "x86-64-v3", "", 32, 256, 8192},
    {"alderlake", "x86-64-v3", "avxvnni gfni vaes vpclmulqdq", 48, 1280, 30720},
    {"raptorlake", "x86-64-v3", "avxvnni gfni vaes vpclmulqdq", 48, 2048, 36864},
    {"meteorlake", "x86-64-v3", "avxvnni gfni vaes vpclmulqdq", 48, 2048, 24576},
    {"skylake-avx512", "x86-64-v4", "", 32, 1024, 28160},
    {"cascadelake", "x86-64-v4", "avx512vnni", 32, 1024, 28160},
    {"cooperlake", "x86-64-v4", "avx512vnni avx512bf16", 32, 1024, 39424},
    {"icelake-client", "x86-64-v4", ICE_LAKE, 48, 512, 8192},
    {"icelake-server", "x86-64-v4", ICE_LAKE, 48, 1280, 49152},
    {"tigerlake", "x86-64-v4", ICE_LAKE, 48, 1280, 12288},
    {"rocketlake", "x86-64-v4", ICE_LAKE, 48, 512, 16384},
    {"sapphirerapids", "x86-64-v4", SAPPHIRE_RAPIDS, 48, 2048, 107520},
    {"emeraldrapids", "x86-64-v4", SAPPHIRE_RAPIDS, 48, 2048, 266240},
    {"graniterapids", "x86-64-v4", SAPPHIRE_RAPIDS, 48, 2048, 442368},
    {"znver1", "x86-64-v3", "", 32, 512, 8192},
    {"znver2", "x86-64-v3", "", 32, 512, 16384},
    {"znver3", "x86-64-v3", "vaes vpclmulqdq", 32, 512, 32768},
    {"znver4", "x86-64-v4", ICE_LAKE " avx512bf16", 32, 1024, 32768},
    {"znver5", "x86-64-v4", ICE_LAKE " avx512bf16 avxvnni", 48, 1024, 32768},
    {"cortex-a7", "armv7", "hwdiv hwdiv-arm vfp4", 32, 512, 0},
    {"cortex-a9", "armv7", "", 32, 512, 0},
    {"cortex-a15", "armv7", "hwdiv hwdiv-arm vfp4", 32, 2048, 0},
    {"cortex-a53", "aarch64", "crc", 32, 512, 0},
    {"cortex-a57", "aarch64", "crc", 32, 2048, 0},
    {"cortex-a72", "aarch64", "crc", 32, 1024, 0},
    {"cortex-a73", "aarch64", "crc", 64, 2048, 0},
    {"cortex-a55", "aarch64-v8.2", "", 32, 128, 1024},
    {"cortex-a75", "aarch64-v8.2", "", 64, 256, 2048},
    {"cortex-a76", "aarch64-v8.2", "", 64, 512, 2048},
    {"cortex-a77", "aarch64-v8.2", "", 64, 512, 4096},
    {"cortex-a78", "aarch64-v8.2", "", 64, 512, 4096},
    {"cortex-a78ae", "aarch64-v8.2", "", 64, 256, 4096},
    {"cortex-x1", "aarch64-v8.2", "", 64, 1024, 4096},
    {"neoverse-n1", "aarch64-v8.2", "", 64, 1024, 32768},
    {"sifive-u74", "riscv64", "", 32, 2048, 0},
    {"spacemit-x60", "riscv64-v", "", 32, 512, 0},
};

// Sources: Linux' intel-family.h and cputype.h, AMD's processor programming references.
static constexpr CpuModel kModels[] = {
    {"GenuineIntel", 6, 0x3c, 0x3c, "haswell"},
    {"GenuineIntel", 6, 0x3f, 0x3f, "haswell"},
    {"GenuineIntel", 6, 0x45, 0x46, "haswell"},
    {"GenuineIntel", 6, 0x3d, 0x3d, "broadwell"},
    {"GenuineIntel", 6, 0x47, 0x47, "broadwell"},
    {"GenuineIntel", 6, 0x4f, 0x4f, "broadwell"},
    {"GenuineIntel", 6, 0x56, 0x56, "broadwell"},
    {"GenuineIntel", 6, 0x4e, 0x4e, "skylake"},
    {"GenuineIntel", 6, 0x5e, 0x5e, "skylake"},
    {"GenuineIntel", 6, 0x8e, 0x8e, "skylake"},
    {"GenuineIntel", 6, 0x9e, 0x9e, "skylake"},
    {"GenuineIntel", 6, 0xa5, 0xa6, "skylake"},
    {"GenuineIntel", 6, 0x55, 0x55, "skylake-avx512 cascadelake cooperlake"},
    {"GenuineIntel", 6, 0x6a, 0x6a, "icelake-server"},
    {"GenuineIntel", 6, 0x6c, 0x6c, "icelake-server"},
    {"GenuineIntel", 6, 0x7d, 0x7e, "icelake-client"},
    {"GenuineIntel", 6, 0x8c, 0x8d, "tigerlake"},
    {"GenuineIntel", 6, 0x8f, 0x8f, "icelake-server sapphirerapids"},
    {"GenuineIntel", 6, 0x97, 0x97, "alderlake"},
    {"GenuineIntel", 6, 0x9a, 0x9a, "alderlake"},
    {"GenuineIntel", 6, 0xa7, 0xa7, "rocketlake"},
    {"GenuineIntel", 6, 0xaa, 0xaa, "meteorlake"},
    {"GenuineIntel", 6, 0xac, 0xac, "meteorlake"},
    {"GenuineIntel", 6, 0xad, 0xae, "sapphirerapids graniterapids"},
    {"GenuineIntel", 6, 0xb7, 0xb7, "raptorlake"},
    {"GenuineIntel", 6, 0xba, 0xba, "raptorlake"},
    {"GenuineIntel", 6, 0xbf, 0xbf, "raptorlake"},
    {"GenuineIntel", 6, 0xcf, 0xcf, "icelake-server emeraldrapids"},
    {"AuthenticAMD", 0x17, 0x00, 0x2f, "znver1"},
    {"AuthenticAMD", 0x17, 0x30, 0xff, "znver2"},
    {"AuthenticAMD", 0x19, 0x00, 0x0f, "znver3"},
    {"AuthenticAMD", 0x19, 0x10, 0x1f, "znver4"},
    {"AuthenticAMD", 0x19, 0x20, 0x5f, "znver3"},
    {"AuthenticAMD", 0x19, 0x60, 0xaf, "znver4"},
    {"AuthenticAMD", 0x1a, 0x00, 0xff, "znver4 znver5"},
    {"arm", 0, 0xc07, 0xc07, "cortex-a7"},
    {"arm", 0, 0xc09, 0xc09, "cortex-a9"},
    {"arm", 0, 0xc0f, 0xc0f, "cortex-a15"},
    {"arm", 0, 0xd03, 0xd03, "cortex-a53"},
    {"arm", 0, 0xd05, 0xd05, "cortex-a55"},
    {"arm", 0, 0xd07, 0xd07, "cortex-a57"},
    {"arm", 0, 0xd08, 0xd08, "cortex-a72"},
    {"arm", 0, 0xd09, 0xd09, "cortex-a73"},
    {"arm", 0, 0xd0a, 0xd0a, "cortex-a75"},
    {"arm", 0, 0xd0b, 0xd0b, "cortex-a76"},
    {"arm", 0, 0xd0c, 0xd0c, "neoverse-n1"},
    {"arm", 0, 0xd0d, 0xd0d, "cortex-a77"},
    {"arm", 0, 0xd41, 0xd41, "cortex-a78"},
    {"arm", 0, 0xd42, 0xd42, "cortex-a78ae"},
    {"arm", 0, 0xd44, 0xd44, "cortex-x1"},
};

std::span<const IsaLevel> isa_levels() { return kLevels; }
std::span<const CpuRow> cpu_rows() { return kCpus; }
std::span<const CpuModel> cpu_models() { return kModels; }

template <class Row>
static const Row* find_row(std::span<const Row> rows, std::string_view name) {
  auto row = std::ranges::find(rows, name, &Row::name);
  return row == rows.end() ? nullptr : &*row;
}
const IsaLevel* find_level(std::string_view name) { return find_row(isa_levels(), name); }
const CpuRow* find_cpu(std::string_view name) { return find_row(cpu_rows(), name); }

void take_level(Target& target, const IsaLevel& level) {
  target.isa = target.cpu = level.name;
  target.vector_bits = level.vector_bits;
  target.vector_registers = level.vector_registers;
}

static void append_words(std::vector<std::string>& words, std::string_view text) {
  for (auto& word : split(text, ' ')) words.push_back(std::move(word));
}

std::vector<std::string> level_features(const IsaLevel& level) {
  std::vector<std::string> features;
  for (const IsaLevel* at = &level; at; at = find_level(at->below)) append_words(features, at->features);
  std::ranges::sort(features);
  return features;
}

std::vector<std::string> cpu_features(const CpuRow& cpu) {
  std::vector<std::string> features = level_features(*find_level(cpu.level));
  append_words(features, cpu.extra);
  std::ranges::sort(features);
  return features;
}

}  // namespace farm
