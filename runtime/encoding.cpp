#include "runtime/encoding.h"

#include <cmath>

namespace farm {

// Lists
// -----------------------------------------------------------------------------------------------------------------

static void encode(ByteWriter& out, const std::string& value) { out.text(value); }
static void decode(ByteReader& in, std::string& value) { value = in.text(kMaxTextBytes); }
static void encode(ByteWriter& out, int value) { out.i32(value); }
static void decode(ByteReader& in, int& value) { value = in.i32(); }
static void encode(ByteWriter& out, float value) { out.f32(value); }
static void decode(ByteReader& in, float& value) { value = in.f32(); }
static void encode(ByteWriter& out, std::chrono::nanoseconds value) { out.i64(value.count()); }
static void decode(ByteReader& in, std::chrono::nanoseconds& value) { value = std::chrono::nanoseconds(in.i64()); }

template <class T>
static void encode_list(ByteWriter& out, const std::vector<T>& list) {
  out.count(list.size());
  for (const T& item : list) encode(out, item);
}
/// `least_bytes`: the shortest encoding of an item.
template <class T>
static void decode_list(ByteReader& in, std::vector<T>& list, size_t limit, size_t least_bytes) {
  list.assign(in.count(limit, least_bytes), T{});
  for (T& item : list)
    if (in.ok()) decode(in, item);
}

/// A size or count that must not be negative.
static int64_t decode_size(ByteReader& in) {
  int64_t value = in.i64();
  if (value < 0) in.fail_here();
  return in.ok() ? value : 0;
}

// Tensor types
// ------------------------------------------------------------------------------------------------------------

void encode(ByteWriter& out, const TensorType& value) {
  out.u8(static_cast<uint8_t>(value.dtype.kind));
  out.u8(value.dtype.bits);
  out.count(value.shape.size());
  for (int64_t extent : value.shape) out.i64(extent);
}

/// The product of the extents stays below 2^40 elements, so that sizes never overflow.
static void check_extents(ByteReader& in, const Shape& shape) {
  constexpr int64_t kMaxElements = int64_t{1} << 40;
  int64_t elements = 1;
  for (int64_t extent : shape) {
    if (extent < 1 || extent > kMaxElements / elements) return in.fail_here();
    elements *= extent;
  }
}

void decode(ByteReader& in, TensorType& value) {
  value.dtype.kind = in.enumeration(DTypeKind::BFloat);
  value.dtype.bits = in.u8();
  if (value.dtype.bits < 1 || value.dtype.bits > 64) in.fail_here();
  value.shape.assign(in.count(kMaxRank, 8), 1);
  for (auto& extent : value.shape) extent = in.i64();
  check_extents(in, value.shape);
  if (!in.ok()) value = {};
}

// Artifact, target
// --------------------------------------------------------------------------------------------------------

void encode(ByteWriter& out, const Artifact& value) {
  out.u8(static_cast<uint8_t>(value.format));
  out.text(value.isa);
  encode_list(out, value.features);
  encode_list(out, value.inputs);
  encode_list(out, value.constants);
  encode(out, value.output);
  out.i64(value.packed_bytes);
  out.i64(value.workspace_bytes);
  out.i32(value.threads);
  out.f64(value.flops);
  out.text(value.run_symbol);
  out.text(value.prepack_symbol);
  out.bytes(value.blob);
}

void decode(ByteReader& in, Artifact& value) {
  value.format = in.enumeration(ArtifactFormat::Vta);
  value.isa = in.text(kMaxTextBytes);
  decode_list(in, value.features, 1024, 4);
  decode_list(in, value.inputs, kMaxOperands, 6);
  decode_list(in, value.constants, kMaxOperands, 6);
  decode(in, value.output);
  value.packed_bytes = decode_size(in);
  value.workspace_bytes = decode_size(in);
  value.threads = in.i32();
  value.flops = in.f64();
  value.run_symbol = in.text(kMaxTextBytes);
  value.prepack_symbol = in.text(kMaxTextBytes);
  value.blob = in.bytes(kMaxBlobBytes);
}

void encode(ByteWriter& out, const Target& value) {
  out.text(value.isa);
  out.text(value.cpu);
  encode_list(out, value.features);
  out.text(value.model);
  out.i32(value.vector_bits);
  out.i32(value.vector_registers);
  out.i32(value.cores);
  for (int64_t bytes : {value.l1_bytes, value.l2_bytes, value.l3_bytes, value.memory_bytes}) out.i64(bytes);
  out.f64(value.peak_gflops_core);
  out.boolean(value.emulated);
}

void decode(ByteReader& in, Target& value) {
  value.isa = in.text(kMaxTextBytes);
  value.cpu = in.text(kMaxTextBytes);
  decode_list(in, value.features, 1024, 4);
  value.model = in.text(kMaxTextBytes);
  for (int* field : {&value.vector_bits, &value.vector_registers, &value.cores}) {
    *field = in.i32();
    if (*field < 1 || *field > 1 << 16) in.fail_here();
  }
  for (int64_t* bytes : {&value.l1_bytes, &value.l2_bytes, &value.l3_bytes, &value.memory_bytes})
    *bytes = decode_size(in);
  value.peak_gflops_core = in.f64();
  if (!std::isfinite(value.peak_gflops_core)) in.fail_here();
  value.emulated = in.boolean();
}

// Requests
// ----------------------------------------------------------------------------------------------------------------

void encode(ByteWriter& out, const InputSet& value) {
  out.u64(value.seed);
  out.hash(value.expected);
  out.hash(value.terms);
  out.f64(value.tolerance);
}

void decode(ByteReader& in, InputSet& value) {
  value.seed = in.u64();
  value.expected = in.hash();
  value.terms = in.hash();
  value.tolerance = in.f64();
}

void encode(ByteWriter& out, const MeasurePolicy& value) {
  encode(out, value.budget);
  encode(out, value.sample);
  out.i32(value.min_samples);
  out.i32(value.max_samples);
  out.f64(value.interval);
  out.f64(value.cut_factor);
  encode(out, value.timeout);
  out.boolean(value.cold);
}

void decode(ByteReader& in, MeasurePolicy& value) {
  decode(in, value.budget);
  decode(in, value.sample);
  value.min_samples = in.i32();
  value.max_samples = in.i32();
  value.interval = in.f64();
  value.cut_factor = in.f64();
  decode(in, value.timeout);
  value.cold = in.boolean();
  for (auto duration : {value.budget, value.sample, value.timeout})
    if (duration <= std::chrono::nanoseconds(0) || duration > kMaxDuration) in.fail_here();
  bool sensible = value.min_samples > 0 && value.max_samples >= value.min_samples &&
                  static_cast<size_t>(value.max_samples) <= kMaxSamples;
  if (!sensible) in.fail_here();
}

void encode(ByteWriter& out, const MeasureRequest& value) {
  encode_list(out, value.artifacts);
  encode(out, value.inputs);
  encode(out, value.policy);
  out.f64(value.best_ns);
  out.boolean(value.interleave);
  out.boolean(value.measure_peak);
}

void decode(ByteReader& in, MeasureRequest& value) {
  decode_list(in, value.artifacts, kMaxArtifacts, 64);
  decode(in, value.inputs);
  decode(in, value.policy);
  value.best_ns = in.f64();
  value.interleave = in.boolean();
  value.measure_peak = in.boolean();
}

// Replies
// -----------------------------------------------------------------------------------------------------------------

void encode(ByteWriter& out, const Measurement& value) {
  out.u8(static_cast<uint8_t>(value.outcome));
  out.text(value.detail);
  for (double field : {value.latency_ns, value.median_ns, value.low_ns, value.high_ns, value.prepack_ns})
    out.f64(field);
  encode_list(out, value.samples_ns);
  out.i32(value.preempted);
  out.boolean(value.cut_short);
  out.f64(value.max_error);
  out.f64(value.golden_ratio);
  out.f64(value.load);
  out.text(value.clock);
  encode_list(out, value.cores);
}

void decode(ByteReader& in, Measurement& value) {
  value.outcome = in.enumeration(Outcome::Unstable);
  value.detail = in.text(kMaxTextBytes);
  for (double* field : {&value.latency_ns, &value.median_ns, &value.low_ns, &value.high_ns, &value.prepack_ns})
    *field = in.f64();
  decode_list(in, value.samples_ns, kMaxSamples, 4);
  value.preempted = in.i32();
  value.cut_short = in.boolean();
  value.max_error = in.f64();
  value.golden_ratio = in.f64();
  value.load = in.f64();
  value.clock = in.text(kMaxTextBytes);
  decode_list(in, value.cores, 4096, 4);
}

void encode(ByteWriter& out, const MeasureReply& value) {
  encode_list(out, value.measurements);
  out.f64(value.peak_gflops);
}

void decode(ByteReader& in, MeasureReply& value) {
  decode_list(in, value.measurements, kMaxArtifacts, 64);
  value.peak_gflops = in.f64();
}

}  // namespace farm
