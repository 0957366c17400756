#include "apps/tracker_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace farm {
namespace {

using nlohmann::json;

json to_json(const DeviceInfo& device) {
  return {{"id", device.id},
          {"key", device.key},
          {"target", device.target.text()},
          {"model", device.target.model},
          {"cores", device.target.cores},
          {"memory_bytes", device.target.memory_bytes},
          {"peak_gflops_core", device.target.peak_gflops_core},
          {"emulated", device.target.emulated},
          {"clock", clock_of(device.target)},
          {"address", device.address.text()},
          {"state", device.state},
          {"holder", device.holder}};
}

using Row = std::vector<std::string>;

// Columns as wide as their widest cell; names come from the network, so control characters are shown, not sent.
std::string table(const std::vector<Row>& rows) {
  std::vector<size_t> widths(rows.front().size());
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], printable(row[i]).size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) line += fmt::format("{:<{}}  ", printable(row[i]), widths[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace

std::string status_json(const TrackerStatus& status) {
  json document{{"devices", json::array()}, {"queue", json::array()}, {"leases", json::array()}};
  for (const DeviceInfo& device : status.devices) document["devices"].push_back(to_json(device));
  for (const QueueInfo& queue : status.queue) {
    document["queue"].push_back(
        {{"key", queue.key}, {"devices", queue.devices}, {"free", queue.free}, {"waiting", queue.waiting}});
  }
  for (const LeaseInfo& lease : status.leases) {
    document["leases"].push_back({{"device", lease.device_id},
                                  {"key", lease.key},
                                  {"holder", lease.holder},
                                  {"epoch", lease.epoch},
                                  {"seconds_left", lease.seconds_left}});
  }
  // A name that is no UTF-8 must not make the document unreadable.
  return document.dump(2, ' ', false, json::error_handler_t::replace);
}

std::string status_table(const TrackerStatus& status) {
  std::vector<Row> devices{{"DEVICE", "KEY", "STATE", "TARGET", "CORES", "ADDRESS", "HOLDER"}};
  for (const DeviceInfo& d : status.devices) {
    devices.push_back(
        {d.id, d.key, d.state, d.target.text(), std::to_string(d.target.cores), d.address.text(), d.holder});
  }
  std::vector<Row> queue{{"KEY", "DEVICES", "FREE", "WAITING"}};
  for (const QueueInfo& q : status.queue) {
    queue.push_back({q.key, std::to_string(q.devices), std::to_string(q.free), std::to_string(q.waiting)});
  }
  std::vector<Row> leases{{"LEASE OF", "KEY", "HOLDER", "EPOCH", "ENDS IN"}};
  for (const LeaseInfo& l : status.leases) {
    leases.push_back({l.device_id, l.key, l.holder, std::to_string(l.epoch), fmt::format("{:.0f} s", l.seconds_left)});
  }
  if (status.devices.empty())
    return "no device is registered" + std::string(status.queue.empty() ? "" : "\n\n" + table(queue));
  std::string text = table(devices) + "\n" + table(queue);
  text += status.leases.empty() ? "\nno lease" : "\n" + table(leases);
  text.erase(text.find_last_not_of('\n') + 1);
  return text;
}

}  // namespace farm
