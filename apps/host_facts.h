// What a record says of the machine that tuned.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace farm {

/// Versions of the kernel and of the code generator, the frequency governor where there is one, the load.
std::vector<std::pair<std::string, std::string>> host_facts();

/// "name@host:pid", for people who look at a queue.
std::string user_text();

}  // namespace farm
