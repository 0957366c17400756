#include "tuning_db/record.h"

#include <array>

#include "base/bytes.h"

namespace farm {

static constexpr std::array<std::string_view, 3> kRoleWords = {"trial", "default", "final"};

std::string to_string(Role role) { return std::string(kRoleWords.at(static_cast<size_t>(role))); }

std::optional<Role> role_from_string(std::string_view word) {
  for (size_t i = 0; i < kRoleWords.size(); ++i)
    if (kRoleWords[i] == word) return static_cast<Role>(i);
  return std::nullopt;
}

// The order below is part of every stored hash. A field that is added later goes to the end and is written only when
// it is not at its default, so that old records keep their identity.

static void put(ByteWriter& out, const std::vector<std::string>& texts) {
  out.count(texts.size());
  for (const std::string& text : texts) out.text(text);
}

static void put(ByteWriter& out, const Measurement& m) {
  out.text(to_string(m.outcome));
  out.text(m.detail);
  for (double value : {m.latency_ns, m.median_ns, m.low_ns, m.high_ns, m.prepack_ns}) out.f64(value);
  out.count(m.samples_ns.size());
  for (float sample : m.samples_ns) out.f32(sample);
  out.i32(m.preempted);
  out.boolean(m.cut_short);
  out.f64(m.max_error);
  out.f64(m.golden_ratio);
  out.text(m.clock);
  out.count(m.cores.size());
  for (int core : m.cores) out.i32(core);
}

static void put(ByteWriter& out, const Target& device) {
  out.text(device.isa);
  out.text(device.cpu);
  put(out, device.features);
  out.text(device.model);
  for (int value : {device.vector_bits, device.vector_registers, device.cores}) out.i32(value);
  for (int64_t value : {device.l1_bytes, device.l2_bytes, device.l3_bytes, device.memory_bytes}) out.i64(value);
  out.f64(device.peak_gflops_core);
}

Hash record_hash(const Record& record) {
  ByteWriter out;
  out.text(record.key.task);
  out.text(record.key.target);
  out.i32(record.key.threads);
  out.text(record.key.policy);
  out.text(record.candidate);
  out.text(to_string(record.role));
  put(out, record.measurement);
  out.hash(record.program);
  put(out, record.trace);
  out.f64(record.flops);
  out.f64(record.peak_gflops);
  put(out, record.device);
  out.text(record.device_key);
  out.text(record.device_id);
  out.text(record.run_id);
  out.u64(record.seed);
  out.i64(record.build_ns);
  out.i64(record.spent_ns);
  out.text(record.time);
  out.count(record.environment.size());
  for (const auto& [key, value] : record.environment) {
    out.text(key);
    out.text(value);
  }
  if (record.device.emulated) out.text("emulated");
  return hash_bytes(out.view());
}

}  // namespace farm
