#include "runtime/cpu/arithmetic_helper.h"

#if defined(__arm__)

// Names and meanings are those of Arm's "Run-time ABI for the Arm Architecture", sections 4.2, 4.3.1 and 4.3.4; libgcc
// and libc have them. Their address is all that is wanted, so these types are not their own.
// clang-format off
#define ALL_HELPERS \
  HELPER(idiv) HELPER(uidiv) HELPER(idivmod) HELPER(uidivmod) HELPER(ldivmod) HELPER(uldivmod) HELPER(lmul) \
  HELPER(llsl) HELPER(llsr) HELPER(lasr) HELPER(l2f) HELPER(l2d) HELPER(ul2f) HELPER(ul2d) HELPER(f2lz) \
  HELPER(f2ulz) HELPER(d2lz) HELPER(d2ulz) HELPER(memcpy) HELPER(memcpy4) HELPER(memcpy8) HELPER(memmove) \
  HELPER(memmove4) HELPER(memmove8) HELPER(memset) HELPER(memset4) HELPER(memset8) HELPER(memclr) \
  HELPER(memclr4) HELPER(memclr8)
// clang-format on

#define HELPER(name) void __aeabi_##name();
extern "C" {
ALL_HELPERS
}
#undef HELPER

namespace farm {

void* arithmetic_helper(std::string_view name) {
#define HELPER(name) {"__aeabi_" #name, __aeabi_##name},
  static constexpr struct {
    std::string_view name;
    void (*address)();
  } kHelpers[] = {ALL_HELPERS};
#undef HELPER
  for (const auto& helper : kHelpers)
    if (helper.name == name) return reinterpret_cast<void*>(helper.address);
  return nullptr;
}

}  // namespace farm

#else

void* farm::arithmetic_helper(std::string_view) { return nullptr; }

#endif
