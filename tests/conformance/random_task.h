// Tasks by chance: small, odd, and full of the cases that a schedule likes to get wrong.
#pragma once
#include <string>
#include <string_view>

#include "base/rng.h"
#include "tensor/tensor.h"

namespace farm {

/// A task of `op` whose sizes are 1, primes, and powers of two with their neighbours; windows that are not square,
/// strides, dilations, groups, padding beyond the window's need; operands transposed, constant, biased. At most about
/// four million flops.
Task random_task(std::string_view op, Rng& rng);

}  // namespace farm
