// What a kernel may call: memory and mathematics, nothing that reaches the system.
#include <cmath>
#include <cstring>

#include "runtime/cpu/arithmetic_helper.h"
#include "runtime/cpu/elf_loader.h"

namespace farm {

struct Import {
  std::string_view name;
  void* address;
};

template <class Function>
static void* address_of(Function* function) {
  return reinterpret_cast<void*>(function);
}

using Unary = float(float);
using Binary = float(float, float);
using Unary64 = double(double);
using Binary64 = double(double, double);
#define UNARY(name) \
  {#name "f", address_of<Unary>(::name##f)}, { #name, address_of<Unary64>(::name) }
#define BINARY(name) \
  {#name "f", address_of<Binary>(::name##f)}, { #name, address_of<Binary64>(::name) }

void* allowed_import(std::string_view name) {
  static const Import kImports[] = {
      {"memcpy", address_of<void*(void*, const void*, size_t)>(std::memcpy)},
      {"memmove", address_of<void*(void*, const void*, size_t)>(std::memmove)},
      {"memset", address_of<void*(void*, int, size_t)>(std::memset)},
      {"memcmp", address_of<int(const void*, const void*, size_t)>(std::memcmp)},
      {"fmaf", address_of<float(float, float, float)>(::fmaf)},
      {"fma", address_of<double(double, double, double)>(::fma)},
      UNARY(exp),
      UNARY(exp2),
      UNARY(expm1),
      UNARY(log),
      UNARY(log2),
      UNARY(log10),
      UNARY(log1p),
      UNARY(sin),
      UNARY(cos),
      UNARY(tan),
      UNARY(sinh),
      UNARY(cosh),
      UNARY(tanh),
      UNARY(asin),
      UNARY(acos),
      UNARY(atan),
      UNARY(erf),
      UNARY(erfc),
      UNARY(sqrt),
      UNARY(cbrt),
      UNARY(fabs),
      UNARY(floor),
      UNARY(ceil),
      UNARY(trunc),
      UNARY(round),
      UNARY(rint),
      UNARY(nearbyint),
      BINARY(pow),
      BINARY(fmod),
      BINARY(fmax),
      BINARY(fmin),
      BINARY(atan2),
      BINARY(copysign),
      BINARY(hypot),
  };
  for (const auto& import : kImports)
    if (import.name == name) return import.address;
  return arithmetic_helper(name);
}

}  // namespace farm
