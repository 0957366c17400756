// Records as a tune run would have stored them, and databases that hold them.
#pragma once
#include <string>

#include "testing.h"
#include "tuning_db/tuning_db.h"

namespace farm {

inline Record measured(const std::string& task, const Target& device, int threads, const std::string& candidate,
                       double latency_ns) {
  Record record;
  record.key = {task, device.text(), threads, MeasurePolicy{}.text()};
  record.candidate = candidate;
  record.role = Role::Final;
  record.measurement.latency_ns = record.measurement.median_ns = latency_ns;
  record.measurement.low_ns = record.measurement.high_ns = latency_ns;
  record.device = device;
  record.device_key = "local";
  record.device_id = "this";
  record.run_id = "run";
  record.time = "2026-01-02T03:04:05Z";
  return record;
}

inline void store_records(const std::string& path, const std::vector<Record>& records) {
  auto store = open_store(path, OpenMode::ReadWrite);
  if (!store) FAIL(store.error().message);
  REQUIRE((*store)->append(records).has_value());
}

}  // namespace farm
