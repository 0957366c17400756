// One list of fields an instruction serves both directions: the coder is a writer or a reader of bits.
#include "runtime/vta/isa.h"

#include "target/vta.h"

namespace farm::vta {
namespace {

enum class Opcode : uint8_t { Load, Store, Gemm, Alu, Finish };  // in the order of the variant

class BitWriter {
 public:
  void operator()(uint64_t value, int bits) {
    FARM_ASSERT(value < (uint64_t{1} << bits), "the value ", value, " in a field of ", bits, " bits");
    word_[static_cast<size_t>(at_ / 64)] |= value << (at_ % 64);
    at_ += bits;
  }
  void flag(bool value) { (*this)(value, 1); }
  void signed_field(int32_t value, int bits) {
    FARM_ASSERT(value >= -(1 << (bits - 1)) && value < (1 << (bits - 1)), "the value ", value, " in a signed field of ",
                bits, " bits");
    (*this)(static_cast<uint32_t>(value) & ((uint32_t{1} << bits) - 1), bits);
  }
  template <class Enum>
  void choice(Enum value, int bits, Enum) {
    (*this)(static_cast<uint64_t>(value), bits);
  }
  void unused(int bits) { at_ += bits; }
  Word take() const { return word_; }

 private:
  Word word_{};
  int at_ = 0;
};

class BitReader {
 public:
  explicit BitReader(const Word& word) : word_(word) {}
  void operator()(uint32_t& value, int bits) { value = static_cast<uint32_t>(next(bits)); }
  void flag(bool& value) { value = next(1) != 0; }
  void signed_field(int32_t& value, int bits) {
    auto raw = static_cast<int32_t>(next(bits));
    value = raw >= (1 << (bits - 1)) ? raw - (1 << bits) : raw;
  }
  template <class Enum>
  void choice(Enum& value, int bits, Enum last) {
    uint64_t raw = next(bits);
    ok_ &= raw <= static_cast<uint64_t>(last);
    value = static_cast<Enum>(ok_ ? raw : 0);
  }
  void unused(int bits) { ok_ &= next(bits) == 0; }
  bool ok() const { return ok_; }

 private:
  // No field crosses the middle.
  uint64_t next(int bits) {
    uint64_t value = word_[static_cast<size_t>(at_ / 64)] >> (at_ % 64) & ((uint64_t{1} << bits) - 1);
    at_ += bits;
    return value;
  }
  Word word_;
  int at_ = 0;
  bool ok_ = true;
};

template <class Coder, class T>
void fields_of_tokens(Coder& code, T& tokens) {
  code.flag(tokens.pop_prev);
  code.flag(tokens.pop_next);
  code.flag(tokens.push_prev);
  code.flag(tokens.push_next);
}

template <class Coder, class T>
void fields_of_load(Coder& code, T& load) {
  code.choice(load.memory, 3, Memory::Accumulator);
  code(load.operand, 4);
  code(load.sram, 13);
  code(load.dram, 32);
  code.unused(5);
  code(load.y_size, 16);
  code(load.x_size, 16);
  code(load.x_stride, 16);
  code(load.y_pad_top, 4);
  code(load.y_pad_bottom, 4);
  code(load.x_pad_left, 4);
  code(load.x_pad_right, 4);
}

template <class Coder, class T>
void fields_of_store(Coder& code, T& store) {
  code(store.operand, 4);
  code(store.sram, 13);
  code(store.dram, 32);
  code.unused(8);
  code(store.y_size, 16);
  code(store.x_size, 16);
  code(store.x_stride, 16);
  code.unused(16);
}

template <class Coder, class T>
void fields_of_gemm(Coder& code, T& gemm) {
  code.flag(gemm.reset);
  code(gemm.uop_begin, 13);
  code(gemm.uop_end, 14);
  code(gemm.iter_out, 14);
  code(gemm.iter_in, 14);
  code.unused(1);
  code(gemm.accumulator_out, 11);
  code(gemm.accumulator_in, 11);
  code(gemm.input_out, 11);
  code(gemm.input_in, 11);
  code(gemm.weight_out, 10);
  code(gemm.weight_in, 10);
}

template <class Coder, class T>
void fields_of_alu(Coder& code, T& alu) {
  code.choice(alu.op, 2, AluOp::ShiftRight);
  code(alu.uop_begin, 13);
  code(alu.uop_end, 14);
  code(alu.iter_out, 14);
  code(alu.iter_in, 14);
  code(alu.destination_out, 11);
  code(alu.destination_in, 11);
  code(alu.source_out, 11);
  code(alu.source_in, 11);
  code.flag(alu.use_immediate);
  code.signed_field(alu.immediate, 16);
  code.unused(3);
}

template <class Coder, class T>
void fields_of_body(Coder& code, T& body) {
  using Plain = std::remove_const_t<T>;
  if constexpr (std::is_same_v<Plain, Load>)
    fields_of_load(code, body);
  else if constexpr (std::is_same_v<Plain, Store>)
    fields_of_store(code, body);
  else if constexpr (std::is_same_v<Plain, Gemm>)
    fields_of_gemm(code, body);
  else if constexpr (std::is_same_v<Plain, Alu>)
    fields_of_alu(code, body);
  else
    code.unused(57), code.unused(32), code.unused(32);
}

decltype(Instruction::body) empty_body(Opcode opcode) {
  switch (opcode) {
    case Opcode::Load:
      return Load{};
    case Opcode::Store:
      return Store{};
    case Opcode::Gemm:
      return Gemm{};
    case Opcode::Alu:
      return Alu{};
    case Opcode::Finish:
      break;
  }
  return Finish{};
}

}  // namespace

std::string to_string(Engine engine) {
  constexpr const char* kNames[] = {"load", "compute", "store"};
  return kNames[static_cast<int>(engine)];
}

std::string to_string(Memory memory) {
  constexpr const char* kNames[] = {"uop", "weight", "input", "accumulator", "output"};
  return kNames[static_cast<int>(memory)];
}

std::string to_string(AluOp op) {
  constexpr const char* kNames[] = {"min", "max", "add", "shift right"};
  return kNames[static_cast<int>(op)];
}

int64_t elements_of(Memory memory) {
  switch (memory) {
    case Memory::Uop:
      return kVtaConfig.uops();
    case Memory::Weight:
      return kVtaConfig.weights();
    case Memory::Input:
      return kVtaConfig.inputs();
    case Memory::Accumulator:
    case Memory::Output:
      break;
  }
  return kVtaConfig.accumulators();
}

int64_t element_bytes(Memory memory) {
  switch (memory) {
    case Memory::Uop:
      return 4;
    case Memory::Weight:
      return kVtaBlock * kVtaBlock;
    case Memory::Accumulator:
      return kVtaBlock * 4;
    case Memory::Input:
    case Memory::Output:
      break;
  }
  return kVtaBlock;
}

Engine engine_of(const Instruction& instruction) {
  if (const auto* load = std::get_if<Load>(&instruction.body))
    return load->memory == Memory::Input || load->memory == Memory::Weight ? Engine::Load : Engine::Compute;
  return std::holds_alternative<Store>(instruction.body) ? Engine::Store : Engine::Compute;
}

std::string describe(const Instruction& instruction) {
  if (const auto* load = std::get_if<Load>(&instruction.body)) return "load of " + to_string(load->memory);
  if (std::holds_alternative<Store>(instruction.body)) return "store";
  if (const auto* gemm = std::get_if<Gemm>(&instruction.body)) return gemm->reset ? "reset" : "gemm";
  if (const auto* alu = std::get_if<Alu>(&instruction.body)) return to_string(alu->op);
  return "finish";
}

uint32_t encode(const Uop& uop) {
  FARM_ASSERT(uop.accumulator < 2048 && uop.input < 2048 && uop.weight < 1024, "uop ", uop.accumulator, ", ", uop.input,
              ", ", uop.weight);
  return uop.accumulator | uop.input << 11 | uop.weight << 22;
}

Uop decode_uop(uint32_t word) { return {word & 2047, word >> 11 & 2047, word >> 22}; }

Word encode(const Instruction& instruction) {
  BitWriter code;
  code(instruction.body.index(), 3);
  fields_of_tokens(code, instruction.tokens);
  std::visit([&](const auto& body) { fields_of_body(code, body); }, instruction.body);
  return code.take();
}

Result<Instruction> decode(const Word& word) {
  BitReader code(word);
  Opcode opcode{};
  Instruction instruction;
  code.choice(opcode, 3, Opcode::Finish);
  if (!code.ok()) return fail(ErrorCode::Corrupt, "opcode ", word[0] & 7, " is unknown; opcodes are 0 to 4");
  fields_of_tokens(code, instruction.tokens);
  instruction.body = empty_body(opcode);
  std::visit([&](auto& body) { fields_of_body(code, body); }, instruction.body);
  if (!code.ok())
    return fail(ErrorCode::Corrupt, "a ", describe(instruction), " has an unknown memory or unused bits that are set");
  return instruction;
}

}  // namespace farm::vta
