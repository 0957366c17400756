// What is wrong with a program, told before it runs.
#include "base/text.h"
#include "runtime/vta/program.h"
#include "target/vta.h"

namespace farm::vta {
namespace {

template <class... Parts>
Fault launch_fault(const Parts&... parts) {
  return {Outcome::LaunchFailed, detail::concat(parts...)};
}
template <class... Parts>
Fault bounds_fault(const Parts&... parts) {
  return {Outcome::OutOfBounds, detail::concat(parts...)};
}

using MaybeFault = std::optional<Fault>;

/// Elements from the first to behind the last that rows reach; 0 when there are none.
int64_t reach(int64_t rows, int64_t columns, int64_t stride) {
  return rows == 0 || columns == 0 ? 0 : (rows - 1) * stride + columns;
}

MaybeFault check_chip(Memory memory, int64_t first, int64_t count) {
  if (first + count <= elements_of(memory)) return {};
  return bounds_fault("elements ", first, " to ", first + count, " of the ", to_string(memory), " memory, which has ",
                      elements_of(memory));
}

class Checker {
 public:
  explicit Checker(const Program& program) : program_(program) {}

  MaybeFault operator()(const Load& load) const {
    if (auto fault = check_chip(load.memory, load.sram, load.rows() * load.row())) return fault;
    int64_t end = load.read() == 0 ? 0 : load.dram + reach(load.y_size, load.x_size, load.x_stride);
    if (load.memory == Memory::Uop) return check_uops(load, end);
    if (load.operand >= program_.read_bytes.size())
      return launch_fault("operand ", load.operand, " cannot be read: there are ", program_.read_bytes.size());
    return check_dram("operand", load.operand, end * element_bytes(load.memory), program_.read_bytes[load.operand]);
  }

  MaybeFault operator()(const Store& store) const {
    if (store.operand != program_.read_bytes.size())
      return launch_fault("operand ", store.operand, " cannot be written: the output is operand ",
                          program_.read_bytes.size());
    if (auto fault = check_chip(Memory::Output, store.sram, store.written())) return fault;
    int64_t end = store.written() == 0 ? 0 : store.dram + reach(store.y_size, store.x_size, store.x_stride);
    return check_dram("operand", store.operand, end * element_bytes(Memory::Output), program_.output_bytes);
  }

  MaybeFault operator()(const Gemm& gemm) const { return check_loops(gemm); }
  MaybeFault operator()(const Alu& alu) const { return check_loops(alu); }
  MaybeFault operator()(const Finish&) const { return {}; }

 private:
  MaybeFault check_uops(const Load& load, int64_t end) const {
    if (load.operand != 0) return launch_fault("uops come from the program: their operand is 0, not ", load.operand);
    return check_dram("uops of the program", 0, end * 4, static_cast<int64_t>(program_.uops.size()) * 4);
  }

  static MaybeFault check_dram(const char* what, uint32_t operand, int64_t end, int64_t bytes) {
    if (end <= bytes) return {};
    return bounds_fault("byte ", end, " of ", what, " ", operand, ", which has ", bytes);
  }

  template <class Repeated>
  static MaybeFault check_loops(const Repeated& code) {
    if (code.uop_end > kVtaConfig.uops())
      return bounds_fault("uop ", code.uop_end, " of the uop memory, which has ", kVtaConfig.uops());
    if (code.uop_begin >= code.uop_end || code.iter_out == 0 || code.iter_in == 0)
      return launch_fault("it repeats nothing: uops ", code.uop_begin, " to ", code.uop_end, ", ", code.iter_out,
                          " by ", code.iter_in, " times");
    return {};
  }

  const Program& program_;
};

MaybeFault check_tokens(const Instruction& instruction) {
  const Tokens& tokens = instruction.tokens;
  Engine engine = engine_of(instruction);
  if (engine == Engine::Load && (tokens.pop_prev || tokens.push_prev))
    return launch_fault("no module comes before load");
  if (engine == Engine::Store && (tokens.pop_next || tokens.push_next))
    return launch_fault("no module comes behind store");
  return {};
}

MaybeFault check_end(const Program& program) {
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    bool finish = std::holds_alternative<Finish>(program.instructions[i].body);
    bool last = i + 1 == program.instructions.size();
    if (finish && !last) return launch_fault("instruction ", i, " is a finish, yet there are more behind it");
    if (last && finish) return {};
  }
  return launch_fault("the program does not end with a finish");
}

}  // namespace

std::optional<Fault> find_fault(const Program& program) {
  if (program.bitstream != vta_bitstream())
    return launch_fault("the program was made for bitstream ", to_string(program.bitstream), "; this device is ",
                        kVtaConfig.text(), ", ", to_string(vta_bitstream()));
  if (auto fault = check_end(program)) return fault;
  Checker check(program);
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& instruction = program.instructions[i];
    auto fault = check_tokens(instruction);
    if (!fault) fault = std::visit(check, instruction.body);
    if (!fault) continue;
    fault->detail = detail::concat("instruction ", i, " (", describe(instruction), "): ", fault->detail);
    return fault;
  }
  return {};
}

// Packing ----------------------------------------------------------------------------------------------------------

static int64_t packed_elements(const Packing& packing) {
  double elements = 1;  // a double does not overflow where the product may
  for (const PackedDim& dim : packing.dims) elements *= static_cast<double>(dim.extent);
  return elements > static_cast<double>(kMaxOperandBytes) ? kMaxOperandBytes + 1 : static_cast<int64_t>(elements);
}

/// Flat index into the source of the n-th packed element; -1 where there is none.
static int64_t source_of(const Packing& packing, int64_t n) {
  int64_t at[kMaxPackedDims] = {};
  for (size_t p = packing.dims.size(); p-- > 0;) {
    const PackedDim& dim = packing.dims[p];
    at[dim.dim] += n % dim.extent * dim.step;
    n /= dim.extent;
  }
  int64_t flat = 0;
  for (size_t d = 0; d < packing.source.size(); ++d) {
    if (at[d] >= packing.source[d]) return -1;
    flat = flat * packing.source[d] + at[d];
  }
  return flat;
}

static int64_t source_elements(const Packing& packing) {
  int64_t elements = 1;
  for (int64_t extent : packing.source) {
    if (elements > kMaxOperandBytes / extent) return kMaxOperandBytes + 1;
    elements *= extent;
  }
  return elements;
}

std::expected<std::vector<std::byte>, Fault> pack(const Program& program, int64_t bytes,
                                                  const std::vector<std::span<const std::byte>>& constants) {
  auto wrong = [](auto... parts) { return std::unexpected(launch_fault(parts...)); };
  if (program.packings.size() != constants.size())
    return wrong("the program packs ", program.packings.size(), " constants where there are ", constants.size());
  std::vector<std::byte> packed(static_cast<size_t>(bytes));
  for (size_t i = 0; i < constants.size(); ++i) {
    const Packing& packing = program.packings[i];
    int64_t elements = packed_elements(packing);
    if (source_elements(packing) != static_cast<int64_t>(constants[i].size()))
      return wrong("the program packs a constant of ", source_elements(packing), " bytes where it has ",
                   constants[i].size());
    if (packing.offset + elements > bytes)
      return wrong("packed constant ", i, " ends at byte ", packing.offset + elements, " of ", bytes);
    for (int64_t n = 0; n < elements; ++n)
      if (int64_t from = source_of(packing, n); from >= 0)
        packed[static_cast<size_t>(packing.offset + n)] = constants[i][static_cast<size_t>(from)];
  }
  return packed;
}

}  // namespace farm::vta
