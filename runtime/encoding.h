// The binary form of the room's values: in requests and replies on the wire, in the pipe to the runner and to build
// workers. Decoders check every length before they allocate; see base/bytes.h. The form has no version of its own: the
// protocol that carries it does (processes on one machine are of one build).
#pragma once
#include <chrono>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "runtime/artifact.h"
#include "runtime/measurement.h"
#include "target/target.h"

namespace farm {

/// Limits that a decoder enforces.
inline constexpr size_t kMaxBlobBytes = 256 << 20;  ///< code of one artifact
inline constexpr size_t kMaxArtifacts = 256;        ///< in one request
inline constexpr size_t kMaxSamples = 1 << 20;
inline constexpr std::chrono::hours kMaxDuration{1};  ///< of each duration of a policy
inline constexpr size_t kMaxTextBytes = 1 << 16;
inline constexpr size_t kMaxRank = 16;
inline constexpr size_t kMaxOperands = 64;

void encode(ByteWriter& out, const TensorType& value);
void encode(ByteWriter& out, const Artifact& value);
void encode(ByteWriter& out, const Target& value);
void encode(ByteWriter& out, const InputSet& value);
void encode(ByteWriter& out, const MeasurePolicy& value);
void encode(ByteWriter& out, const MeasureRequest& value);
void encode(ByteWriter& out, const Measurement& value);
void encode(ByteWriter& out, const MeasureReply& value);

/// On an error `in.ok()` turns false and the value is in some harmless state.
void decode(ByteReader& in, TensorType& value);
void decode(ByteReader& in, Artifact& value);
void decode(ByteReader& in, Target& value);
void decode(ByteReader& in, InputSet& value);
void decode(ByteReader& in, MeasurePolicy& value);
void decode(ByteReader& in, MeasureRequest& value);
void decode(ByteReader& in, Measurement& value);
void decode(ByteReader& in, MeasureReply& value);

template <class T>
std::vector<std::byte> to_bytes(const T& value) {
  ByteWriter out;
  encode(out, value);
  return out.take();
}

/// Corrupt, naming `what`, unless the bytes are exactly one value.
template <class T>
Result<T> from_bytes(std::span<const std::byte> bytes, std::string_view what) {
  ByteReader in(bytes);
  T value;
  decode(in, value);
  FARM_CHECK(in.finish(what));
  return value;
}

}  // namespace farm
