#include "target/target.h"

#include <algorithm>

#include "base/text.h"
#include "target/tables.h"

namespace farm {

bool Target::has(std::string_view feature) const { return std::ranges::find(features, feature) != features.end(); }

static std::vector<std::string> level_names() {
  std::vector<std::string> names;
  for (const auto& level : isa_levels()) names.emplace_back(level.name);
  return names;
}

std::vector<std::string> target_names() {
  std::vector<std::string> names = level_names();
  for (const auto& cpu : cpu_rows()) names.emplace_back(cpu.name);
  return names;
}

Result<Target> narrow(const Target& target, std::string_view isa) {
  const IsaLevel* level = find_level(isa);
  if (!level)
    return fail(ErrorCode::InvalidArgument, "unknown isa \"", printable(isa), "\"; it must be one of ",
                join(level_names(), ", "), did_you_mean(isa, level_names()));
  if (isa == target.isa && target.cpu == target.isa) return target;
  Target narrowed = target;
  narrowed.features = level_features(*level);
  if (!features_cover(target, narrowed))
    return fail(ErrorCode::InvalidArgument, "isa ", level->name, " is beyond this device, which is ", target.text(),
                "; choose ", target.isa, " or a level below it");
  take_level(narrowed, *level);
  narrowed.peak_gflops_core = 0;  // that of wider vectors
  return narrowed;
}

std::string_view isa_family(std::string_view isa) {
  const IsaLevel* level = find_level(isa);
  while (level && !level->below.empty()) level = find_level(level->below);
  return level ? level->name : isa;
}

static Target level_target(const IsaLevel& level) {
  Target target;
  take_level(target, level);
  target.features = level_features(level);
  return target;
}

static Target cpu_target(const CpuRow& cpu) {
  Target target = level_target(*find_level(cpu.level));
  target.cpu = cpu.name;
  target.features = cpu_features(cpu);
  target.l1_bytes = int64_t{cpu.l1_kib} << 10;
  target.l2_bytes = int64_t{cpu.l2_kib} << 10;
  target.l3_bytes = int64_t{cpu.l3_kib} << 10;
  return target;
}

static std::unexpected<Error> unknown_target(std::string_view name) {
  return fail(ErrorCode::InvalidArgument, "unknown target \"", printable(name), "\"",
              did_you_mean(name, target_names()), "; it must be an isa level (", join(level_names(), ", "),
              ") or a cpu such as znver3");
}

/// "x86-64-v3/znver3", the text that records are filed under.
static Result<Target> target_from_pair(std::string_view level, std::string_view cpu_name) {
  const CpuRow* cpu = find_cpu(cpu_name);
  if (!cpu) return unknown_target(cpu_name);
  if (cpu->level != level)
    return fail(ErrorCode::InvalidArgument, "target ", printable(level), "/", cpu->name, " does not exist; ", cpu->name,
                " is ", cpu->level, "/", cpu->name);
  return cpu_target(*cpu);
}

static Result<Target> emulated(Result<Target> target) {
  if (target) target->emulated = true;
  return target;
}

Result<Target> target_from_name(std::string_view name) {
  constexpr std::string_view kMark = "+emulated";
  if (name.ends_with(kMark)) return emulated(target_from_name(name.substr(0, name.size() - kMark.size())));
  if (size_t slash = name.find('/'); slash != name.npos)
    return target_from_pair(name.substr(0, slash), name.substr(slash + 1));
  if (const IsaLevel* level = find_level(name)) return level_target(*level);
  if (const CpuRow* cpu = find_cpu(name)) return cpu_target(*cpu);
  return unknown_target(name);
}

bool features_cover(const Target& target, const Target& other) {
  if (isa_family(target.isa) != isa_family(other.isa)) return false;  // two families may name a feature alike
  return std::ranges::all_of(other.features, [&](const std::string& feature) { return target.has(feature); });
}

}  // namespace farm
