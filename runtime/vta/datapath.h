// The memories on the chip and what each instruction does to them; no time, no tokens.
#pragma once
#include <span>
#include <vector>

#include "runtime/vta/program.h"
#include "runtime/vta/races.h"

namespace farm::vta {

class Datapath {
 public:
  /// `races` may be null. Without `compute`, uops are all that is moved: addresses are still checked.
  Datapath(const Program& program, const std::vector<std::span<const std::byte>>& read, std::span<std::byte> output,
           bool compute, RaceFinder* races);

  /// Of a program without a fault that could be told beforehand. OutOfBounds when uops lead outside a memory.
  std::optional<Fault> execute(const Instruction& instruction);

 private:
  void load(const Load& load);
  void store(const Store& store);
  std::optional<Fault> gemm(const Gemm& gemm);
  std::optional<Fault> alu(const Alu& alu);
  std::span<const std::byte> source(const Load& load) const;
  std::span<std::byte> bytes_of(Memory memory);
  void note_read(Engine engine, Memory memory, int64_t element);
  void note_write(Engine engine, Memory memory, int64_t element);

  const Program& program_;
  const std::vector<std::span<const std::byte>>& read_;
  std::span<std::byte> output_operand_;
  bool compute_;
  RaceFinder* races_;
  std::vector<uint32_t> uops_;
  std::vector<int8_t> inputs_, weights_;
  std::vector<int32_t> accumulators_;  ///< the output memory is a view of them: their low 8 bits
};

}  // namespace farm::vta
