// A RISC-V CPU, by the kernel's capability bits: one for each letter of the ISA's name.
#if defined(__riscv)
#include <sys/auxv.h>

#include "target/host_cpu.h"

namespace farm {

HostCpu read_host_cpu() {
  HostCpu cpu;
  unsigned long letters = getauxval(AT_HWCAP);
  for (char letter : {'a', 'c', 'd', 'f', 'm', 'v'})
    if ((letters >> (letter - 'a')) & 1) cpu.features.emplace_back(1, letter);
  return cpu;
}

}  // namespace farm
#endif
