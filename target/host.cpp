// describe_host: what the CPU, /sys and the scheduler say about this machine.
#include <sched.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>

#include "base/text.h"
#include "target/host_cpu.h"
#include "target/tables.h"
#include "target/target.h"

namespace farm {

// Caches --------------------------------------------------------------------------------------------------------------

static std::string read_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// "512K" or "32M" in bytes.
static int64_t size_from_text(std::string_view text) {
  if (text.empty()) return 0;
  int shift = text.back() == 'K' ? 10 : text.back() == 'M' ? 20 : 0;
  auto number = parse_int(shift ? text.substr(0, text.size() - 1) : text);
  return number && *number > 0 ? *number << shift : 0;
}

static void set_cache(Target& target, int level, int64_t bytes) {
  int64_t* places[] = {&target.l1_bytes, &target.l2_bytes, &target.l3_bytes};
  if (level >= 1 && level <= 3 && bytes > 0) *places[level - 1] = bytes;
}

static bool read_caches_from_sys(Target& target) {
  bool found = false;
  for (int index = 0; index < 8; ++index) {
    std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    auto level = parse_int(read_line(folder + "level"));
    if (!level) break;
    if (read_line(folder + "type") == "Instruction") continue;
    set_cache(target, static_cast<int>(*level), size_from_text(read_line(folder + "size")));
    found = true;
  }
  return found;
}

/// The newest CPU that the numbers may mean and whose features are all there: a virtual machine may hide some of them,
/// and then only the level is known.
static std::optional<std::string> cpu_name(const HostCpu& host, const Target& target) {
  std::optional<std::string> best;
  for (const auto& row : cpu_models()) {
    if (row.vendor != host.maker || row.family != host.family || host.number < row.first_model ||
        host.number > row.last_model)
      continue;
    for (const auto& name : split(row.cpus, ' ')) {
      const CpuRow& cpu = *find_cpu(name);
      bool has_all = std::ranges::all_of(cpu_features(cpu), [&](auto& feature) { return target.has(feature); });
      if (has_all && cpu.level == target.isa) best = name;
    }
  }
  return best;
}

/// The highest level whose features are all there; those of other families have none.
static void take_highest_level(Target& target) {
  for (const auto& level : isa_levels()) {
    bool has_all = std::ranges::all_of(level_features(level), [&](auto& feature) { return target.has(feature); });
    if (has_all) take_level(target, level);
  }
}

static void describe_cpu(Target& target) {
  HostCpu host = read_host_cpu();
  target.features = host.features;
  target.model = host.model;
  take_highest_level(target);
  if (auto name = cpu_name(host, target)) target.cpu = *name;
  if (read_caches_from_sys(target)) return;
  for (int level = 1; level <= 3; ++level) set_cache(target, level, host.cache_bytes[level - 1]);
}

static int usable_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
}

static int64_t memory_bytes() {
  struct sysinfo info;
  return sysinfo(&info) == 0 ? static_cast<int64_t>(info.totalram) * info.mem_unit : 0;
}

Target describe_host() {
  Target target;
  describe_cpu(target);
  target.cores = usable_cores();
  target.memory_bytes = memory_bytes();
  return target;
}

}  // namespace farm
