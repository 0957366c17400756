// An Arm CPU of 64 or 32 bits, by the kernel's capability bits and its identification register.
#if defined(__aarch64__) || defined(__arm__)
#include <sys/auxv.h>

#include <algorithm>
#include <fstream>

#include "base/text.h"
#include "target/host_cpu.h"

namespace farm {

struct CapabilityBit {
  const char* name;  // LLVM's
  int bit;
};

#if defined(__aarch64__)
// Source: Linux, arch/arm64/include/uapi/asm/hwcap.h.
static constexpr CapabilityBit kBits[] = {{"fp-armv8", 0},  {"neon", 1}, {"crc", 7},     {"lse", 8},
                                          {"fullfp16", 10}, {"rdm", 12}, {"dotprod", 20}};
constexpr int kIdentificationBit = 11;
#else
// Source: Linux, arch/arm/include/uapi/asm/hwcap.h.
static constexpr CapabilityBit kBits[] = {{"neon", 12}, {"vfp4", 16}, {"hwdiv-arm", 17}, {"hwdiv", 18}};
#endif

static std::vector<std::string> host_features() {
  std::vector<std::string> features;
  unsigned long bits = getauxval(AT_HWCAP);
  for (const auto& row : kBits)
    if ((bits >> row.bit) & 1) features.emplace_back(row.name);
  std::ranges::sort(features);
  return features;
}

/// The value of a line of /proc/cpuinfo; of its last such line, since big cores come last.
static std::string cpuinfo(std::string_view key) {
  std::ifstream file("/proc/cpuinfo");
  std::string found;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key))
      if (size_t colon = line.find(':'); colon != line.npos) found = trim(std::string_view(line).substr(colon + 1));
  return found;
}

static void set_identity(HostCpu& cpu, unsigned implementer, unsigned part) {
  if (implementer == 0x41) cpu.maker = "arm";
  cpu.number = static_cast<int>(part);
}

static void identify_by_cpuinfo(HostCpu& cpu) {
  auto hexadecimal = [](const std::string& text) {
    return static_cast<unsigned>(std::strtoul(text.c_str(), nullptr, 16));
  };
  set_identity(cpu, hexadecimal(cpuinfo("CPU implementer")), hexadecimal(cpuinfo("CPU part")));
}

HostCpu read_host_cpu() {
  HostCpu cpu;
  cpu.features = host_features();
  cpu.model = cpuinfo("Hardware");
  if (cpu.model.empty()) cpu.model = cpuinfo("Model");
  identify_by_cpuinfo(cpu);
#if defined(__aarch64__)
  // An emulator that runs single programs shows its own machine's cpuinfo, but answers this register.
  if (cpu.number == 0 && ((getauxval(AT_HWCAP) >> kIdentificationBit) & 1)) {
    uint64_t identity = 0;
    asm("mrs %0, midr_el1" : "=r"(identity));
    set_identity(cpu, static_cast<unsigned>(identity >> 24), static_cast<unsigned>(identity >> 4) & 0xfff);
  }
#endif
  return cpu;
}

}  // namespace farm
#endif
