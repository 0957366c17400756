#include "runtime/vta/datapath.h"

#include <algorithm>

#include "runtime/vta/multiply_add.h"
#include "target/vta.h"

namespace farm::vta {

Datapath::Datapath(const Program& program, const std::vector<std::span<const std::byte>>& read,
                   std::span<std::byte> output, bool compute, RaceFinder* races)
    : program_(program),
      read_(read),
      output_operand_(output),
      compute_(compute),
      races_(races),
      uops_(static_cast<size_t>(kVtaConfig.uops())),
      inputs_(static_cast<size_t>(kVtaConfig.inputs() * kVtaBlock)),
      weights_(static_cast<size_t>(kVtaConfig.weights() * kVtaBlock * kVtaBlock)),
      accumulators_(static_cast<size_t>(kVtaConfig.accumulators() * kVtaBlock)) {}

std::optional<Fault> Datapath::execute(const Instruction& instruction) {
  if (const auto* body = std::get_if<Load>(&instruction.body))
    load(*body);
  else if (const auto* body = std::get_if<Store>(&instruction.body))
    store(*body);
  else if (const auto* body = std::get_if<Gemm>(&instruction.body))
    return gemm(*body);
  else if (const auto* body = std::get_if<Alu>(&instruction.body))
    return alu(*body);
  return {};
}

void Datapath::note_read(Engine engine, Memory memory, int64_t element) {
  if (races_) races_->read(engine, memory, element);
}

void Datapath::note_write(Engine engine, Memory memory, int64_t element) {
  if (!races_) return;
  races_->write(engine, memory, element);
  if (memory == Memory::Accumulator) races_->write(engine, Memory::Output, element);
}

// Moving data -------------------------------------------------------------------------------------------------------

std::span<const std::byte> Datapath::source(const Load& load) const {
  if (load.memory == Memory::Uop) return std::as_bytes(std::span(program_.uops));
  return compute_ ? read_[load.operand] : std::span<const std::byte>{};
}

std::span<std::byte> Datapath::bytes_of(Memory memory) {
  switch (memory) {
    case Memory::Uop:
      return std::as_writable_bytes(std::span(uops_));
    case Memory::Weight:
      return std::as_writable_bytes(std::span(weights_));
    case Memory::Input:
      return std::as_writable_bytes(std::span(inputs_));
    case Memory::Accumulator:
    case Memory::Output:
      break;
  }
  return std::as_writable_bytes(std::span(accumulators_));
}

void Datapath::load(const Load& load) {
  for (int64_t i = 0; races_ && i < load.rows() * load.row(); ++i)
    note_write(engine_of({{}, load}), load.memory, load.sram + i);
  if (!compute_ && load.memory != Memory::Uop) return;
  auto size = static_cast<size_t>(element_bytes(load.memory));
  auto target = bytes_of(load.memory).subspan(load.sram * size, static_cast<size_t>(load.rows() * load.row()) * size);
  std::ranges::fill(target, std::byte{0});
  for (uint32_t y = 0; y < load.y_size && load.x_size > 0; ++y) {
    auto row = source(load).subspan((load.dram + size_t{y} * load.x_stride) * size, load.x_size * size);
    auto at = static_cast<size_t>((int64_t{load.y_pad_top} + y) * load.row() + load.x_pad_left) * size;
    std::ranges::copy(row, target.subspan(at).begin());
  }
}

void Datapath::store(const Store& store) {
  for (int64_t i = 0; races_ && i < store.written(); ++i) note_read(Engine::Store, Memory::Output, store.sram + i);
  if (!compute_) return;
  size_t from = store.sram * size_t{kVtaBlock};
  for (uint32_t y = 0; y < store.y_size; ++y) {
    size_t to = (store.dram + size_t{y} * store.x_stride) * kVtaBlock;
    for (size_t lanes = store.x_size * size_t{kVtaBlock}; lanes > 0; --lanes)
      output_operand_[to++] = static_cast<std::byte>(static_cast<uint32_t>(accumulators_[from++]) & 0xff);
  }
}

// Computing ---------------------------------------------------------------------------------------------------------

/// The largest index that a field of uops reaches with two loops around.
static int64_t farthest(uint32_t field, int64_t iter_out, uint32_t out, int64_t iter_in, uint32_t in) {
  return int64_t{field} + (iter_out - 1) * out + (iter_in - 1) * in;
}

template <class Body>
static void for_each_uop(uint32_t iter_out, uint32_t iter_in, std::span<const uint32_t> uops, const Body& body) {
  for (uint32_t i = 0; i < iter_out; ++i)
    for (uint32_t j = 0; j < iter_in; ++j)
      for (uint32_t word : uops) body(i, j, decode_uop(word));
}

static std::optional<Fault> beyond(Memory memory, int64_t index) {
  if (index < elements_of(memory)) return {};
  return Fault{Outcome::OutOfBounds, detail::concat("element ", index, " of the ", to_string(memory),
                                                    " memory, which has ", elements_of(memory))};
}

std::optional<Fault> Datapath::gemm(const Gemm& g) {
  std::span<const uint32_t> uops(uops_.data() + g.uop_begin, g.uop_end - g.uop_begin);
  for (uint32_t word : uops) {
    Uop uop = decode_uop(word);
    auto fault = beyond(Memory::Accumulator,
                        farthest(uop.accumulator, g.iter_out, g.accumulator_out, g.iter_in, g.accumulator_in));
    if (!fault && !g.reset)
      fault = beyond(Memory::Input, farthest(uop.input, g.iter_out, g.input_out, g.iter_in, g.input_in));
    if (!fault && !g.reset)
      fault = beyond(Memory::Weight, farthest(uop.weight, g.iter_out, g.weight_out, g.iter_in, g.weight_in));
    if (fault) return fault;
  }
  if (!compute_ && !races_) return {};
  for_each_uop(g.iter_out, g.iter_in, uops, [&](uint32_t i, uint32_t j, Uop uop) {
    uint32_t a = uop.accumulator + i * g.accumulator_out + j * g.accumulator_in;
    uint32_t n = uop.input + i * g.input_out + j * g.input_in, w = uop.weight + i * g.weight_out + j * g.weight_in;
    note_write(Engine::Compute, Memory::Accumulator, a);
    if (!g.reset) note_read(Engine::Compute, Memory::Input, n), note_read(Engine::Compute, Memory::Weight, w);
    if (!compute_) return;
    int32_t* accumulator = &accumulators_[a * size_t{kVtaBlock}];
    if (g.reset)
      std::fill_n(accumulator, kVtaBlock, 0);
    else
      multiply_add(accumulator, &inputs_[n * size_t{kVtaBlock}], &weights_[w * size_t{kVtaBlock * kVtaBlock}]);
  });
  return {};
}

static int32_t apply(AluOp op, int32_t a, int32_t b) {
  switch (op) {
    case AluOp::Min:
      return std::min(a, b);
    case AluOp::Max:
      return std::max(a, b);
    case AluOp::Add:
      return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
    case AluOp::ShiftRight:
      break;
  }
  return a >> (b & 31);
}

std::optional<Fault> Datapath::alu(const Alu& alu) {
  std::span<const uint32_t> uops(uops_.data() + alu.uop_begin, alu.uop_end - alu.uop_begin);
  for (uint32_t word : uops) {
    Uop uop = decode_uop(word);
    auto fault = beyond(Memory::Accumulator,
                        farthest(uop.accumulator, alu.iter_out, alu.destination_out, alu.iter_in, alu.destination_in));
    if (!fault && !alu.use_immediate)
      fault =
          beyond(Memory::Accumulator, farthest(uop.input, alu.iter_out, alu.source_out, alu.iter_in, alu.source_in));
    if (fault) return fault;
  }
  if (!compute_ && !races_) return {};
  for_each_uop(alu.iter_out, alu.iter_in, uops, [&](uint32_t i, uint32_t j, Uop uop) {
    uint32_t d = uop.accumulator + i * alu.destination_out + j * alu.destination_in;
    uint32_t s = uop.input + i * alu.source_out + j * alu.source_in;
    note_write(Engine::Compute, Memory::Accumulator, d);
    if (!compute_) return;
    for (size_t k = 0; k < kVtaBlock; ++k) {
      int32_t& lane = accumulators_[d * size_t{kVtaBlock} + k];
      lane = apply(alu.op, lane, alu.use_immediate ? alu.immediate : accumulators_[s * size_t{kVtaBlock} + k]);
    }
  });
  return {};
}

}  // namespace farm::vta
