// describe_host: what cpuid, /sys and the scheduler say about this machine.
#include <sched.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>

#include "base/text.h"
#include "target/tables.h"
#include "target/target.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace farm {

// Caches --------------------------------------------------------------------------------------------------------------

static std::string read_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// "512K" or "32M" in bytes.
static int64_t size_from_text(std::string_view text) {
  if (text.empty()) return 0;
  int shift = text.back() == 'K' ? 10 : text.back() == 'M' ? 20 : 0;
  auto number = parse_int(shift ? text.substr(0, text.size() - 1) : text);
  return number && *number > 0 ? *number << shift : 0;
}

static void set_cache(Target& target, int level, int64_t bytes) {
  int64_t* places[] = {&target.l1_bytes, &target.l2_bytes, &target.l3_bytes};
  if (level >= 1 && level <= 3 && bytes > 0) *places[level - 1] = bytes;
}

static bool read_caches_from_sys(Target& target) {
  bool found = false;
  for (int index = 0; index < 8; ++index) {
    std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    auto level = parse_int(read_line(folder + "level"));
    if (!level) break;
    if (read_line(folder + "type") == "Instruction") continue;
    set_cache(target, static_cast<int>(*level), size_from_text(read_line(folder + "size")));
    found = true;
  }
  return found;
}

#if defined(__x86_64__)

// cpuid ---------------------------------------------------------------------------------------------------------------

struct CpuidRegisters {
  unsigned a = 0, b = 0, c = 0, d = 0;
};
static CpuidRegisters cpuid(unsigned leaf, unsigned subleaf = 0) {
  CpuidRegisters r;
  __get_cpuid_count(leaf, subleaf, &r.a, &r.b, &r.c, &r.d);
  return r;
}

/// Register state that the system saves at a context switch: without it the instructions fault.
static uint64_t enabled_state() {
  if (!(cpuid(1).c & (1u << 27))) return 0;
  unsigned low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low | (uint64_t{high} << 32);
}
constexpr uint64_t kNoState = 0, kAvxState = 0x6, kAvx512State = 0xe6, kTileState = 0x60000;

struct FeatureBit {
  const char* name;  // LLVM's
  unsigned leaf, subleaf;
  unsigned CpuidRegisters::* word;
  int bit;
  uint64_t state;
};
using R = CpuidRegisters;
static constexpr FeatureBit kFeatureBits[] = {
    {"sse2", 1, 0, &R::d, 26, kNoState},
    {"sse3", 1, 0, &R::c, 0, kNoState},
    {"ssse3", 1, 0, &R::c, 9, kNoState},
    {"fma", 1, 0, &R::c, 12, kAvxState},
    {"cx16", 1, 0, &R::c, 13, kNoState},
    {"sse4.1", 1, 0, &R::c, 19, kNoState},
    {"sse4.2", 1, 0, &R::c, 20, kNoState},
    {"movbe", 1, 0, &R::c, 22, kNoState},
    {"popcnt", 1, 0, &R::c, 23, kNoState},
    {"xsave", 1, 0, &R::c, 27, kNoState},
    {"avx", 1, 0, &R::c, 28, kAvxState},
    {"f16c", 1, 0, &R::c, 29, kAvxState},
    {"bmi", 7, 0, &R::b, 3, kNoState},
    {"avx2", 7, 0, &R::b, 5, kAvxState},
    {"bmi2", 7, 0, &R::b, 8, kNoState},
    {"avx512f", 7, 0, &R::b, 16, kAvx512State},
    {"avx512dq", 7, 0, &R::b, 17, kAvx512State},
    {"avx512ifma", 7, 0, &R::b, 21, kAvx512State},
    {"avx512cd", 7, 0, &R::b, 28, kAvx512State},
    {"avx512bw", 7, 0, &R::b, 30, kAvx512State},
    {"avx512vl", 7, 0, &R::b, 31, kAvx512State},
    {"avx512vbmi", 7, 0, &R::c, 1, kAvx512State},
    {"avx512vbmi2", 7, 0, &R::c, 6, kAvx512State},
    {"gfni", 7, 0, &R::c, 8, kNoState},
    {"vaes", 7, 0, &R::c, 9, kAvxState},
    {"vpclmulqdq", 7, 0, &R::c, 10, kAvxState},
    {"avx512vnni", 7, 0, &R::c, 11, kAvx512State},
    {"avx512bitalg", 7, 0, &R::c, 12, kAvx512State},
    {"avx512vpopcntdq", 7, 0, &R::c, 14, kAvx512State},
    {"amx-bf16", 7, 0, &R::d, 22, kTileState},
    {"avx512fp16", 7, 0, &R::d, 23, kAvx512State},
    {"amx-tile", 7, 0, &R::d, 24, kTileState},
    {"amx-int8", 7, 0, &R::d, 25, kTileState},
    {"avxvnni", 7, 1, &R::a, 4, kAvxState},
    {"avx512bf16", 7, 1, &R::a, 5, kAvx512State},
    {"amx-fp16", 7, 1, &R::a, 21, kTileState},
    {"sahf", 0x80000001, 0, &R::c, 0, kNoState},
    {"lzcnt", 0x80000001, 0, &R::c, 5, kNoState},
};

static std::vector<std::string> host_features() {
  std::vector<std::string> features;
  uint64_t state = enabled_state();
  for (const auto& bit : kFeatureBits) {
    bool there = (cpuid(bit.leaf, bit.subleaf).*bit.word >> bit.bit) & 1;
    if (there && (state & bit.state) == bit.state) features.emplace_back(bit.name);
  }
  std::ranges::sort(features);
  return features;
}

static std::string text_of(std::initializer_list<unsigned> words) {
  std::string text;
  for (unsigned word : words) text.append(reinterpret_cast<const char*>(&word), sizeof word);
  return text;
}

static std::string host_model() {
  std::string model;
  for (unsigned leaf = 0x80000002; leaf <= 0x80000004; ++leaf) {
    auto r = cpuid(leaf);
    model += text_of({r.a, r.b, r.c, r.d});
  }
  return std::string(trim(model.substr(0, model.find('\0'))));
}

/// Leaf 4 (Intel) and leaf 0x8000001D (AMD) share one format.
static void read_caches_from_cpuid(Target& target, bool amd) {
  for (unsigned index = 0; index < 8; ++index) {
    auto r = cpuid(amd ? 0x8000001D : 4, index);
    unsigned type = r.a & 31;  // 1 data, 2 instruction, 3 both
    if (type == 0) break;
    int64_t bytes = int64_t{(r.b >> 22) + 1} * (((r.b >> 12) & 0x3ff) + 1) * ((r.b & 0xfff) + 1) * (int64_t{r.c} + 1);
    if (type != 2) set_cache(target, static_cast<int>((r.a >> 5) & 7), bytes);
  }
}

static std::string host_vendor() {
  auto r = cpuid(0);
  return text_of({r.b, r.d, r.c});
}

/// The newest CPU that the family and model number may mean and whose features are all there: a virtual machine may
/// hide some of them, and then only the level is known.
static std::optional<std::string> host_cpu(const Target& target) {
  unsigned a = cpuid(1).a;
  int family = (a >> 8) & 15, model = (a >> 4) & 15;
  if (family == 6 || family == 15) model += ((a >> 16) & 15) << 4;
  if (family == 15) family += (a >> 20) & 255;
  std::optional<std::string> best;
  for (const auto& row : cpu_models()) {
    if (row.vendor != host_vendor() || row.family != family || model < row.first_model || model > row.last_model)
      continue;
    for (const auto& name : split(row.cpus, ' ')) {
      const CpuRow& cpu = *find_cpu(name);
      bool has_all = std::ranges::all_of(cpu_features(cpu), [&](auto& feature) { return target.has(feature); });
      if (has_all && cpu.level == target.isa) best = name;
    }
  }
  return best;
}

static void describe_cpu(Target& target) {
  target.features = host_features();
  target.model = host_model();
  for (const auto& level : isa_levels()) {
    bool has_all = std::ranges::all_of(level_features(level), [&](auto& feature) { return target.has(feature); });
    if (!has_all) break;
    target.isa = target.cpu = level.name;
    target.vector_bits = level.vector_bits;
    target.vector_registers = level.vector_registers;
  }
  if (auto cpu = host_cpu(target)) target.cpu = *cpu;
  if (!read_caches_from_sys(target)) read_caches_from_cpuid(target, host_vendor() == "AuthenticAMD");
}

#else

static void describe_cpu(Target& target) {
#if defined(__aarch64__)
  target.isa = "aarch64";
  target.vector_registers = 32;
#elif defined(__arm__)
  target.isa = "armv7";
#elif defined(__riscv)
  target.isa = "riscv64";
#else
  target.isa = "unknown";
#endif
  target.cpu = target.isa;
  read_caches_from_sys(target);
}

#endif

static int usable_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
}

static int64_t memory_bytes() {
  struct sysinfo info;
  return sysinfo(&info) == 0 ? static_cast<int64_t>(info.totalram) * info.mem_unit : 0;
}

Target describe_host() {
  Target target;
  describe_cpu(target);
  target.cores = usable_cores();
  target.memory_bytes = memory_bytes();
  return target;
}

}  // namespace farm
