#include "apps/host_facts.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "codegen/codegen.h"

namespace farm {

std::vector<std::pair<std::string, std::string>> host_facts() {
  std::vector<std::pair<std::string, std::string>> facts{{"codegen", codegen_version()}};
  utsname names{};
  if (uname(&names) == 0) facts.emplace_back("tuner_kernel", std::string(names.sysname) + " " + names.release);
  std::string governor;
  if (std::ifstream("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") >> governor)
    facts.emplace_back("tuner_governor", governor);
  double load = 0;
  if (getloadavg(&load, 1) == 1) facts.emplace_back("tuner_load", fmt::format("{:.2f}", load));
  return facts;
}

std::string user_text() {
  char host[256] = "?";
  gethostname(host, sizeof host - 1);
  const passwd* user = getpwuid(getuid());
  return fmt::format("{}@{}:{}", user ? user->pw_name : "?", host, getpid());
}

}  // namespace farm
