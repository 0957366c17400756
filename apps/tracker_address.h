// Which tracker a program talks to.
#pragma once
#include <string>

#include "rpc/rpc.h"

namespace farm {

/// The flag's value; without it the variable TUNEFARM_TRACKER; without that 127.0.0.1:9190.
Result<Address> tracker_address(const std::string& flag);

}  // namespace farm
