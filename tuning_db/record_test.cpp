#include <cmath>
#include <sstream>

#include "tuning_db/test_records.h"

namespace farm {

static std::string why_not(std::string_view line) {
  auto record = record_from_json_line(line);
  return record ? "accepted" : record.error().message;
}

TEST_CASE("a record comes back from its JSON line bit for bit") {
  for (const Record& record : {make_record(1, 1.0 / 3), make_failed(2, Outcome::Crashed), make_record(3, 1e-300)}) {
    auto again = record_from_json_line(to_json_line(record));
    REQUIRE(again.has_value());
    CHECK(*again == record);
    CHECK(record_hash(*again) == record_hash(record));
  }
}

TEST_CASE("numbers that JSON lacks survive") {
  Record record = make_failed(1, Outcome::WrongResult);
  record.measurement.max_error = HUGE_VAL;
  record.measurement.golden_ratio = -HUGE_VAL;
  CHECK(record_from_json_line(to_json_line(record)).value() == record);
  record.measurement.max_error = std::nan("");
  CHECK(std::isnan(record_from_json_line(to_json_line(record))->measurement.max_error));
}

TEST_CASE("every field counts for the identity of a record") {
  Record record = make_record(1);
  Hash before = record_hash(record);
  CHECK(before == record_hash(make_record(1)));
  record.measurement.samples_ns[2] += 1;
  CHECK(record_hash(record) != before);
  record = make_record(1);
  record.environment.back().second = "powersave";
  CHECK(record_hash(record) != before);
  record = make_record(1);
  record.device.cores = 3;
  CHECK(record_hash(record) != before);
  record = make_record(1);
  record.device.emulated = true;
  CHECK(record_hash(record) != before);
  CHECK(record_from_json_line(to_json_line(record)).value() == record);
}

TEST_CASE("the identity of a stored record never changes") {
  // A field that is added later must leave the hash of records without it as it is.
  CHECK(to_string(record_hash(Record{})) == "fc0a5f9c2ff53421a96a706519a83b8c");
}

TEST_CASE("a line needs only what identifies a measurement") {
  auto record = record_from_json_line(
      R"json({"task":"matmul(m=1,n=1,k=1)","target":"x86-64-v3","threads":1,"candidate":"direct{}","role":"trial","outcome":"ok","latency_ns":5})json");
  REQUIRE(record.has_value());
  CHECK(record->measurement.latency_ns == 5);
}

TEST_CASE("a wrong line says what is wrong with it") {
  CHECK(why_not("{\"task\":") == "it is no JSON");
  CHECK(why_not("[]") == "it is no object");
  CHECK(why_not("{}") == "it has no task");
  std::string good = to_json_line(make_record(1));
  auto with = [&](const std::string& from, const std::string& to) {
    std::string line = good;
    REQUIRE(line.find(from) != std::string::npos);
    return line.replace(line.find(from), from.size(), to);
  };
  CHECK(why_not(good) == "accepted");
  CHECK(why_not(with("\"role\":\"trial\"", "\"role\":\"tryal\"")) == "role is \"tryal\"");
  CHECK(why_not(with("\"threads\":2", "\"threads\":\"two\"")) == "threads must be a whole number");
  CHECK(why_not(with("\"threads\":2", "\"threads\":99999999999")) == "threads must be a number in range");
  CHECK(why_not(with("\"seed\":", "\"sead\":")) == "field sead is unknown to this program");
  CHECK(why_not(with("\"latency_ns\":1000.0", "\"latency_ns\":0")) ==
        "a record that is ok has the latency 0 ns; it must be above 0");
  CHECK(why_not(with("\"latency_ns\":1000.0", "\"latency_ns\":1001.0"))
            .starts_with("its content does not match its hash "));
  CHECK(why_not(with("\"isa\":", "\"issa\":")) == "device: field issa is unknown to this program");
}

TEST_CASE("a summary has the rate and its share of the peak, and no samples") {
  std::string summary = to_json_summary(make_record(1, 4624220.16));
  CHECK(summary.find("\"gflops\":50.0") != std::string::npos);
  CHECK(summary.find("\"share_of_peak\":0.5") != std::string::npos);
  CHECK(summary.find("samples_ns") == std::string::npos);
  std::string failed = to_json_summary(make_failed(1, Outcome::Timeout));
  CHECK(failed.find("\"latency_ns\":null") != std::string::npos);
  CHECK(failed.find("\"gflops\":null") != std::string::npos);
}

TEST_CASE("roles round-trip through their words") {
  for (Role role : {Role::Trial, Role::Default, Role::Final}) CHECK(role_from_string(to_string(role)) == role);
  CHECK_FALSE(role_from_string("winner"));
}

}  // namespace farm
