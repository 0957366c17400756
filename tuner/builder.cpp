#include "tuner/builder.h"

namespace farm {

static constexpr size_t kMaxTraceLines = 1 << 14;

void encode(ByteWriter& out, const BuildJob& value) {
  out.text(value.task);
  encode(out, value.target);
  out.i32(value.threads);
  out.text(value.candidate);
}

void decode(ByteReader& in, BuildJob& value) {
  value.task = in.text(kMaxTextBytes);
  decode(in, value.target);
  value.threads = in.i32();
  value.candidate = in.text(kMaxTextBytes);
}

void encode(ByteWriter& out, const BuildResult& value) {
  out.boolean(value.artifact.has_value());
  if (value.artifact) encode(out, *value.artifact);
  out.text(value.error);
  out.hash(value.program);
  out.count(value.trace.size());
  for (const std::string& line : value.trace) out.text(line);
  out.i64(value.build_ns);
}

void decode(ByteReader& in, BuildResult& value) {
  if (in.boolean()) decode(in, value.artifact.emplace());
  value.error = in.text(kMaxTextBytes);
  value.program = in.hash();
  value.trace.resize(in.count(kMaxTraceLines, 4));
  for (std::string& line : value.trace) line = in.text(kMaxTextBytes);
  value.build_ns = in.i64();
}

}  // namespace farm
