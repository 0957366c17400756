#include "apps/target_choice.h"

#include <set>

#include "base/text.h"

namespace farm {
namespace {

TargetChoice with_cores(Target target) {
  int cores = target.cores;
  return {std::move(target), cores, true};
}

struct KnownDevices {
  std::optional<Target> of_key, of_name;  ///< as last described
};

Result<KnownDevices> look_for(const std::string& name, const RecordSource& records) {
  KnownDevices known;
  if (!records.store) return known;
  RecordFilter filter;
  filter.target = name;
  FARM_CHECK(records.store->scan(filter, [&](const Record& record) {
    if (!is_described(record)) return true;
    if (record.device_key == name) known.of_key = record.device;
    if (record.key.target == name || record.device.cpu == name) known.of_name = record.device;
    return true;
  }));
  return known;
}

Result<std::vector<std::string>> device_keys(const RecordSource& records) {
  std::set<std::string> keys;
  if (!records.store) return std::vector<std::string>{};
  FARM_CHECK(records.store->scan({}, [&](const Record& record) {
    if (!record.device_key.empty() && record.device_key != "local") keys.insert(record.device_key);
    return true;
  }));
  return std::vector<std::string>(keys.begin(), keys.end());
}

Result<TargetChoice> unknown_target(const std::string& name, const RecordSource& records) {
  FARM_TRY(std::vector<std::string> keys, device_keys(records));
  std::vector<std::string> possible = target_names();
  possible.insert(possible.end(), keys.begin(), keys.end());
  possible.push_back("local");
  std::string or_key = keys.empty() ? "the key of a device with records in " + records.path
                                    : "a device key in " + records.path + " (" + join(keys, ", ") + ")";
  return fail(ErrorCode::InvalidArgument, "unknown target \"", printable(name), "\"", did_you_mean(name, possible),
              "; it must be local, an isa level such as x86-64-v3, a cpu such as znver3, or ", or_key);
}

}  // namespace

bool is_described(const Record& record) {
  return !record.device.features.empty() && record.device.text() == record.key.target;
}

Result<TargetChoice> choose_target(const std::string& name, const RecordSource& records) {
  Target host = describe_host();
  if (name == "local" || name == host.text() || name == host.cpu) return with_cores(std::move(host));
  FARM_TRY(KnownDevices known, look_for(name, records));
  if (known.of_key) return with_cores(*std::move(known.of_key));
  if (known.of_name) return with_cores(*std::move(known.of_name));
  auto target = target_from_name(name);
  if (target) return TargetChoice{*std::move(target), 1, false};
  bool is_pair = name.find('/') != std::string::npos;  // its error says what is wrong with which half
  return is_pair ? Result<TargetChoice>(std::unexpected(target.error())) : unknown_target(name, records);
}

}  // namespace farm
