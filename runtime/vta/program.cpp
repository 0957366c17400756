#include "runtime/vta/program.h"

#include "base/bytes.h"

namespace farm::vta {

static constexpr uint32_t kMagic = 0x41545646;  // "FVTA"
static constexpr uint32_t kVersion = 1;

static void encode_packing(ByteWriter& out, const Packing& packing) {
  out.count(packing.source.size());
  for (int64_t extent : packing.source) out.i64(extent);
  out.i64(packing.offset);
  out.count(packing.dims.size());
  for (const PackedDim& dim : packing.dims) {
    out.i64(dim.extent);
    out.u32(dim.dim);
    out.i64(dim.step);
  }
}

std::vector<std::byte> encode(const Program& program) {
  ByteWriter out;
  out.u32(kMagic);
  out.u32(kVersion);
  out.hash(program.bitstream);
  out.count(program.read_bytes.size());
  for (int64_t bytes : program.read_bytes) out.i64(bytes);
  out.i64(program.output_bytes);
  out.count(program.packings.size());
  for (const Packing& packing : program.packings) encode_packing(out, packing);
  out.count(program.uops.size());
  for (uint32_t uop : program.uops) out.u32(uop);
  out.count(program.instructions.size());
  for (const Instruction& instruction : program.instructions)
    for (uint64_t half : encode(instruction)) out.u64(half);
  return out.take();
}

static int64_t read_extent(ByteReader& in) {
  int64_t extent = in.i64();
  if (extent < 1 || extent > kMaxOperandBytes) in.fail_here();
  return in.ok() ? extent : 1;
}

static Packing read_packing(ByteReader& in) {
  Packing packing;
  for (size_t left = in.count(kMaxPackedDims, 8); left > 0; --left) packing.source.push_back(read_extent(in));
  packing.offset = in.i64();
  if (packing.offset < 0 || packing.offset > kMaxOperandBytes) in.fail_here();
  for (size_t left = in.count(kMaxPackedDims, 20); left > 0; --left) {
    PackedDim dim{read_extent(in), in.u32(), 1};
    dim.step = read_extent(in);
    if (dim.dim >= packing.source.size()) in.fail_here();
    packing.dims.push_back(dim);
  }
  return packing;
}

static int64_t read_bytes(ByteReader& in) {
  int64_t bytes = in.i64();
  if (bytes < 0 || bytes > kMaxOperandBytes) in.fail_here();
  return bytes;
}

Result<Program> decode_program(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  if (in.u32() != kMagic) return fail(ErrorCode::Corrupt, "the code is no program of a VTA");
  if (uint32_t version = in.u32(); in.ok() && version != kVersion)
    return fail(ErrorCode::Corrupt, "the program is of version ", version, "; this device reads version ", kVersion);
  Program program;
  program.bitstream = in.hash();
  for (size_t left = in.count(kMaxOperandsRead, 8); left > 0; --left) program.read_bytes.push_back(read_bytes(in));
  program.output_bytes = read_bytes(in);
  for (size_t left = in.count(kMaxPackings, 16); left > 0; --left) program.packings.push_back(read_packing(in));
  size_t uops = in.count(kMaxUops, 4);
  program.uops.reserve(uops);
  for (; uops > 0; --uops) program.uops.push_back(in.u32());
  size_t instructions = in.count(kMaxInstructions, 16);
  program.instructions.reserve(instructions);
  for (size_t i = 0; i < instructions; ++i) {
    Word word{in.u64(), 0};
    word[1] = in.u64();
    auto instruction = decode(word);
    if (!instruction) return fail(ErrorCode::Corrupt, "instruction ", i, ": ", instruction.error().message);
    program.instructions.push_back(*std::move(instruction));
  }
  FARM_CHECK(in.finish("the program of a VTA"));
  return program;
}

}  // namespace farm::vta
