#include "tuning_db/record_json.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"
#include "tuning_db/store.h"

namespace farm {
namespace {

using Json = nlohmann::ordered_json;  // fields in the order written: lines of two exports can be compared

// Writing ----------------------------------------------------------------------------------------------------------

/// JSON has no infinities; an output of NaNs has an error that is none either.
Json number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

Json hash_or_null(const Hash& hash) { return hash == Hash{} ? Json() : Json(to_string(hash)); }

Json device_json(const Target& device) {
  return {{"isa", device.isa},
          {"cpu", device.cpu},
          {"features", device.features},
          {"model", device.model},
          {"vector_bits", device.vector_bits},
          {"vector_registers", device.vector_registers},
          {"cores", device.cores},
          {"l1_bytes", device.l1_bytes},
          {"l2_bytes", device.l2_bytes},
          {"l3_bytes", device.l3_bytes},
          {"memory_bytes", device.memory_bytes},
          {"peak_gflops_core", number(device.peak_gflops_core)},
          {"emulated", device.emulated}};
}

void add_measurement(Json& json, const Measurement& m) {
  bool worked = m.outcome == Outcome::Ok;
  json["outcome"] = to_string(m.outcome);
  json["latency_ns"] = worked ? number(m.latency_ns) : Json();
  json["median_ns"] = number(m.median_ns);
  json["interval_ns"] = Json::array({number(m.low_ns), number(m.high_ns)});
  json["prepack_ns"] = number(m.prepack_ns);
  json["detail"] = m.detail;
  json["preempted"] = m.preempted;
  json["cut_short"] = m.cut_short;
  json["max_error"] = number(m.max_error);
  json["golden_ratio"] = number(m.golden_ratio);
  json["clock"] = m.clock;
  json["cores"] = m.cores;
}

Json body_json(const Record& record) {
  Json json;
  json["task"] = record.key.task;
  json["target"] = record.key.target;
  json["threads"] = record.key.threads;
  json["policy"] = record.key.policy;
  json["candidate"] = record.candidate;
  json["role"] = to_string(record.role);
  add_measurement(json, record.measurement);
  json["program"] = hash_or_null(record.program);
  json["trace"] = record.trace;
  json["flops"] = number(record.flops);
  json["peak_gflops"] = number(record.peak_gflops);
  json["device"] = device_json(record.device);
  json["device_key"] = record.device_key;
  json["device_id"] = record.device_id;
  json["run_id"] = record.run_id;
  json["seed"] = record.seed;
  json["build_ns"] = record.build_ns;
  json["spent_ns"] = record.spent_ns;
  json["time"] = record.time;
  json["environment"] = Json::object();
  for (const auto& [key, value] : record.environment) json["environment"][key] = value;
  return json;
}

Json samples_json(const std::vector<float>& samples) {
  Json list = Json::array();
  for (float sample : samples) list.push_back(number(sample));
  return list;
}

/// Nominal work by time; 0 when it failed or the work is unknown.
double gflops(const Record& record) {
  double latency_ns = record.measurement.latency_ns;
  return record.measurement.outcome == Outcome::Ok && latency_ns > 0 ? record.flops / latency_ns : 0;
}

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// Reading ----------------------------------------------------------------------------------------------------------

/// Takes fields out of an object by name and remembers the first thing that is wrong.
class Reader {
 public:
  Reader(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
    if (!json.is_object()) wrong("it is no object");
  }

  void text(const char* name, std::string& to, bool required = false) {
    if (const Json* value = find(name, required))
      value->is_string() ? void(to = value->get<std::string>()) : wrong_type(name, "a text");
  }
  void real(const char* name, double& to) {
    if (const Json* value = find(name, false)) read_real(name, *value, to);
  }
  template <class Integer>
  void whole(const char* name, Integer& to, bool required = false) {
    const Json* value = find(name, required);
    if (!value) return;
    if (!value->is_number_integer()) return wrong_type(name, "a whole number");
    bool fits = value->is_number_unsigned() ? std::in_range<Integer>(value->get<uint64_t>())
                                            : std::in_range<Integer>(value->get<int64_t>());
    fits ? void(to = value->get<Integer>()) : wrong_type(name, "a number in range");
  }
  void flag(const char* name, bool& to) {
    if (const Json* value = find(name, false))
      value->is_boolean() ? void(to = value->get<bool>()) : wrong_type(name, "true or false");
  }
  void texts(const char* name, std::vector<std::string>& to) {
    each(name, [&](const Json& item) {
      item.is_string() ? to.push_back(item.get<std::string>()) : wrong_type(name, "a list of texts");
    });
  }
  void cores(const char* name, std::vector<int>& to) {
    each(name, [&](const Json& item) {
      item.is_number_integer() ? to.push_back(item.get<int>()) : wrong_type(name, "a list of whole numbers");
    });
  }
  void samples(const char* name, std::vector<float>& to) {
    each(name, [&](const Json& item) {
      double value = 0;
      read_real(name, item, value);
      to.push_back(static_cast<float>(value));
    });
  }
  void interval(const char* name, double& low, double& high) {
    const Json* ends = find(name, false);
    if (!ends) return;
    if (!ends->is_array() || ends->size() != 2) return wrong_type(name, "a list of two numbers");
    read_real(name, (*ends)[0], low);
    read_real(name, (*ends)[1], high);
  }
  void pairs(const char* name, std::vector<std::pair<std::string, std::string>>& to) {
    const Json* object = find(name, false);
    if (!object) return;
    if (!object->is_object()) return wrong_type(name, "an object");
    for (const auto& [key, value] : object->items())
      value.is_string() ? void(to.emplace_back(key, value.get<std::string>())) : wrong_type(name, "an object of texts");
  }
  /// A word of an enumeration or a hash, through its own parser.
  template <class Parse, class To>
  void word(const char* name, To& to, Parse parse, bool required) {
    std::string word;
    if (!find(name, required)) return;
    text(name, word);
    auto value = parse(word);
    value ? void(to = *value) : wrong(std::string(name) + " is \"" + printable(word) + "\"");
  }
  const Json* child(const char* name) { return find(name, false); }

  /// A field that this program does not know would be lost on the way.
  Status finish() {
    if (error_.empty())
      for (const auto& [key, value] : json_.items())
        if (!known_.contains(key)) wrong("field " + printable(key) + " is unknown to this program");
    if (error_.empty()) return {};
    return fail(ErrorCode::Corrupt, where_, error_);
  }

 private:
  const Json* find(const char* name, bool required) {
    known_.insert(name);
    auto found = json_.find(name);
    if (found == json_.end() || found->is_null()) {
      if (required) wrong(std::string("it has no ") + name);
      return nullptr;
    }
    return &*found;
  }
  void read_real(const char* name, const Json& value, double& to) {
    if (value.is_number())
      to = value.get<double>();
    else if (value == "nan")
      to = std::numeric_limits<double>::quiet_NaN();
    else if (value == "inf")
      to = HUGE_VAL;
    else if (value == "-inf")
      to = -HUGE_VAL;
    else
      wrong_type(name, "a number");
  }
  template <class Body>
  void each(const char* name, const Body& body) {
    const Json* list = find(name, false);
    if (!list) return;
    if (!list->is_array()) return wrong_type(name, "a list");
    for (const Json& item : *list) body(item);
  }
  void wrong_type(const char* name, const char* wanted) { wrong(std::string(name) + " must be " + wanted); }
  void wrong(std::string why) {
    if (error_.empty()) error_ = std::move(why);
  }

  const Json& json_;
  std::string where_, error_;
  std::set<std::string, std::less<>> known_;
};

Status read_device(const Json& json, Target& device) {
  Reader in(json, "device: ");
  in.text("isa", device.isa);
  in.text("cpu", device.cpu);
  in.texts("features", device.features);
  in.text("model", device.model);
  in.whole("vector_bits", device.vector_bits);
  in.whole("vector_registers", device.vector_registers);
  in.whole("cores", device.cores);
  in.whole("l1_bytes", device.l1_bytes);
  in.whole("l2_bytes", device.l2_bytes);
  in.whole("l3_bytes", device.l3_bytes);
  in.whole("memory_bytes", device.memory_bytes);
  in.real("peak_gflops_core", device.peak_gflops_core);
  in.flag("emulated", device.emulated);
  return in.finish();
}

void read_measurement(Reader& in, Measurement& m) {
  in.word("outcome", m.outcome, outcome_from_string, true);
  in.real("latency_ns", m.latency_ns);
  in.real("median_ns", m.median_ns);
  in.interval("interval_ns", m.low_ns, m.high_ns);
  in.real("prepack_ns", m.prepack_ns);
  in.text("detail", m.detail);
  in.samples("samples_ns", m.samples_ns);
  in.whole("preempted", m.preempted);
  in.flag("cut_short", m.cut_short);
  in.real("max_error", m.max_error);
  in.real("golden_ratio", m.golden_ratio);
  in.text("clock", m.clock);
  in.cores("cores", m.cores);
}

/// `hash`: what the text says about itself, when it does.
Result<Record> read_record(const Json& json, std::optional<Hash>& hash) {
  Record record;
  Reader in(json, "");
  in.word("hash", hash, hash_from_string, false);
  in.text("task", record.key.task, true);
  in.text("target", record.key.target, true);
  in.whole("threads", record.key.threads, true);
  in.text("policy", record.key.policy);
  in.text("candidate", record.candidate, true);
  in.word("role", record.role, role_from_string, true);
  read_measurement(in, record.measurement);
  in.word("program", record.program, hash_from_string, false);
  in.texts("trace", record.trace);
  in.real("flops", record.flops);
  in.real("peak_gflops", record.peak_gflops);
  if (const Json* device = in.child("device")) FARM_CHECK(read_device(*device, record.device));
  in.text("device_key", record.device_key);
  in.text("device_id", record.device_id);
  in.text("run_id", record.run_id);
  in.whole("seed", record.seed);
  in.whole("build_ns", record.build_ns);
  in.whole("spent_ns", record.spent_ns);
  in.text("time", record.time);
  in.pairs("environment", record.environment);
  FARM_CHECK(in.finish());
  return record;
}

/// The library's own exception ends here.
Result<Record> parse_record(std::string_view text, std::optional<Hash>& hash) {
  try {
    Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded()) return fail(ErrorCode::Corrupt, "it is no JSON");
    return read_record(json, hash);
  } catch (const std::exception& error) {
    return fail(ErrorCode::Corrupt, error.what());
  }
}

// Making storable --------------------------------------------------------------------------------------------------

bool is_continuation(std::string_view text, size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
}

/// Length of the valid sequence at `at`, 0 when there is none.
size_t utf8_length(std::string_view text, size_t at) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char lead = byte(at);
  if (lead < 0x80) return 1;
  size_t length = lead >= 0xc2 && lead <= 0xdf ? 2 : (lead & 0xf0) == 0xe0 ? 3 : lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
  for (size_t i = 1; i < length; ++i)
    if (!is_continuation(text, at + i)) return 0;
  // Overlong forms, surrogates and what lies beyond Unicode.
  if (length == 3 && ((lead == 0xe0 && byte(at + 1) < 0xa0) || (lead == 0xed && byte(at + 1) > 0x9f))) return 0;
  if (length == 4 && ((lead == 0xf0 && byte(at + 1) < 0x90) || (lead == 0xf4 && byte(at + 1) > 0x8f))) return 0;
  return length;
}

void make_utf8(std::string& text) {
  for (size_t at = 0; at < text.size();) {
    size_t length = utf8_length(text, at);
    if (length == 0 || text[at] == 0) text[at] = '?', length = 1;  // a zero byte would end the text for SQLite's tools
    at += length;
  }
}

}  // namespace

Result<Record> storable(Record record) {
  if (record.key.task.empty() || record.key.target.empty() || record.key.threads < 1)
    return fail(ErrorCode::InvalidArgument, "a record needs a task, a target and threads; it has \"", record.key.task,
                "\", \"", record.key.target, "\" and ", record.key.threads);
  Measurement& m = record.measurement;
  if (m.outcome != Outcome::Ok)
    m.latency_ns = 0;
  else if (!(m.latency_ns > 0 && std::isfinite(m.latency_ns)))
    return fail(ErrorCode::InvalidArgument, "a record that is ok has the latency ", m.latency_ns,
                " ns; it must be above 0");

  for (std::string* text : {&record.key.task, &record.key.target, &record.key.policy, &record.candidate, &m.detail,
                            &m.clock, &record.device.isa, &record.device.cpu, &record.device.model, &record.device_key,
                            &record.device_id, &record.run_id, &record.time})
    make_utf8(*text);
  for (std::string& text : record.trace) make_utf8(text);
  for (std::string& text : record.device.features) make_utf8(text);
  std::vector<std::pair<std::string, std::string>> environment;
  std::set<std::string> seen;
  for (auto& [key, value] : record.environment) {
    make_utf8(key);
    make_utf8(value);
    if (seen.insert(key).second) environment.emplace_back(std::move(key), std::move(value));
  }
  record.environment = std::move(environment);
  return record;
}

std::string body_from_record(const Record& record) { return dump(body_json(record)); }

Result<Record> record_from_body(std::string_view body) {
  std::optional<Hash> hash;
  return parse_record(body, hash);
}

std::string to_json_line(const Record& record) {
  Json json;
  json["hash"] = to_string(record_hash(record));
  json.update(body_json(record));
  json["samples_ns"] = samples_json(record.measurement.samples_ns);
  return dump(json);
}

std::string to_json_summary(const Record& record) {
  Json json;
  json["hash"] = to_string(record_hash(record));
  json.update(body_json(record));
  double rate = gflops(record);
  json["gflops"] = rate > 0 ? Json(rate) : Json();
  json["share_of_peak"] = rate > 0 && record.peak_gflops > 0 ? Json(rate / record.peak_gflops) : Json();
  return dump(json);
}

Result<Record> record_from_json_line(std::string_view line) {
  std::optional<Hash> hash;
  FARM_TRY(Record parsed, parse_record(line, hash));
  FARM_TRY(Record record, storable(std::move(parsed)));
  if (hash && *hash != record_hash(record))
    return fail(ErrorCode::Corrupt, "its content does not match its hash ", to_string(*hash));
  return record;
}

std::string json_text(std::string_view text) { return dump(Json(text)); }

}  // namespace farm
