// A tracker's status for people and for scripts.
#pragma once
#include <string>

#include "rpc/rpc.h"

namespace farm {

/// {"devices": [{id key target model cores memory_bytes peak_gflops_core emulated clock address state holder}],
///  "queue": [{key devices free waiting}], "leases": [{device key holder epoch seconds_left}]}
std::string status_json(const TrackerStatus& status);
/// Three small tables.
std::string status_table(const TrackerStatus& status);

}  // namespace farm
