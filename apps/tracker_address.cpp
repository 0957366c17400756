#include "apps/tracker_address.h"

#include <cstdlib>

namespace farm {

Result<Address> tracker_address(const std::string& flag) {
  if (!flag.empty()) return parse_address(flag);
  const char* variable = std::getenv("TUNEFARM_TRACKER");
  return parse_address(variable && *variable ? variable : "127.0.0.1:9190");
}

}  // namespace farm
