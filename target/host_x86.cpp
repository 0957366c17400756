// An x86-64 CPU, by cpuid.
#if defined(__x86_64__)
#include <cpuid.h>

#include <algorithm>

#include "base/text.h"
#include "target/host_cpu.h"

namespace farm {

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
  unsigned CpuidRegisters::*word;
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
static void read_caches(HostCpu& cpu, bool amd) {
  for (unsigned index = 0; index < 8; ++index) {
    auto r = cpuid(amd ? 0x8000001D : 4, index);
    unsigned type = r.a & 31;  // 1 data, 2 instruction, 3 both
    if (type == 0) break;
    int64_t bytes = int64_t{(r.b >> 22) + 1} * (((r.b >> 12) & 0x3ff) + 1) * ((r.b & 0xfff) + 1) * (int64_t{r.c} + 1);
    unsigned level = (r.a >> 5) & 7;
    if (type != 2 && level >= 1 && level <= 3) cpu.cache_bytes[level - 1] = bytes;
  }
}

static std::string host_vendor() {
  auto r = cpuid(0);
  return text_of({r.b, r.d, r.c});
}

HostCpu read_host_cpu() {
  HostCpu cpu;
  cpu.features = host_features();
  cpu.model = host_model();
  cpu.maker = host_vendor();
  unsigned a = cpuid(1).a;
  cpu.family = (a >> 8) & 15, cpu.number = (a >> 4) & 15;
  if (cpu.family == 6 || cpu.family == 15) cpu.number += ((a >> 16) & 15) << 4;
  if (cpu.family == 15) cpu.family += (a >> 20) & 255;
  read_caches(cpu, cpu.maker == "AuthenticAMD");
  return cpu;
}

}  // namespace farm
#endif
