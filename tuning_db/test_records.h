// For the room's tests: records that differ in what a test cares about, and a folder that is gone afterwards.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "testing.h"
#include "tuning_db/store.h"

namespace farm {

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tuning_db_test_XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) names.push_back(entry.path().filename());
    return names;
  }

 private:
  std::filesystem::path path_;
};

/// Every field holds something; `number` makes it unlike others.
inline Record make_record(int number, double latency_ns = 1000) {
  Record record;
  record.key = {"conv2d(in_channels=64,height=56,width=56,out_channels=64,kernel=3,padding=1)", "x86-64-v3/znver3", 2,
                "warm sample=1ms"};
  record.candidate = "direct{tile_k=16,tile_x=" + std::to_string(number) + "}";
  record.measurement.latency_ns = latency_ns;
  record.measurement.median_ns = latency_ns * 1.1;
  record.measurement.low_ns = latency_ns * 0.99;
  record.measurement.high_ns = latency_ns * 1.01;
  record.measurement.prepack_ns = 0.1 + number;
  record.measurement.samples_ns = {float(latency_ns), 1.1f, float(number), 123456.789f};
  record.measurement.max_error = 1.25e-7;
  record.measurement.cores = {0, 1};
  record.program = hash_text("program " + std::to_string(number));
  record.trace = {"split(y, 4)", "vectorize(x_inner)"};
  record.flops = 231211008;
  record.peak_gflops = 100;
  record.device.isa = "x86-64-v3";
  record.device.cpu = "znver3";
  record.device.features = {"avx2", "fma"};
  record.device.cores = 2;
  record.device_key = "local";
  record.device_id = "device-1";
  record.run_id = "run-7";
  record.seed = 18446744073709551615u;
  record.build_ns = 15'000'000;
  record.spent_ns = 60'000'000;
  record.time = "2026-01-02T03:04:05Z";
  record.environment = {{"kernel", "6.1"}, {"governor", "performance"}};
  return record;
}

inline Record make_failed(int number, Outcome outcome) {
  Record record = make_record(number, 0);
  record.measurement = {};
  record.measurement.outcome = outcome;
  record.measurement.detail = "signal 11 (SIGSEGV)";
  record.program = {};
  return record;
}

inline std::unique_ptr<RecordStore> open_for_test(const std::string& path, OpenMode mode = OpenMode::ReadWrite) {
  auto store = open_store(path, mode);
  if (!store) FAIL(store.error().message);
  return *std::move(store);
}

inline std::vector<Record> read_all(RecordStore& store, const RecordFilter& filter = {}) {
  std::vector<Record> records;
  auto report = store.scan(filter, [&](const Record& record) {
    records.push_back(record);
    return true;
  });
  REQUIRE(report.has_value());
  CHECK(report->damaged.empty());
  CHECK(report->read == records.size());
  return records;
}

}  // namespace farm
