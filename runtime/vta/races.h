// Finds accesses that no token orders, whatever the times were in this run.
//
// Each module counts its instructions; what it knows of the others' counts travels with the tokens (a vector clock). An
// access races when another module's access to the same element, one of the two a write, is later than what is known.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/vta/isa.h"

namespace farm::vta {

/// Instructions of each module that are known to be done.
using KnownDone = std::array<uint32_t, kEngines>;

class RaceFinder {
 public:
  RaceFinder();
  void begin(Engine engine) { ++own(engine); }
  KnownDone push(Engine engine) const { return known_[index(engine)]; }
  void pop(Engine engine, const KnownDone& token);

  void read(Engine engine, Memory memory, int64_t element) { touch(engine, memory, element, false); }
  void write(Engine engine, Memory memory, int64_t element) { touch(engine, memory, element, true); }

  /// The first one: "compute reads element 3 of the input memory (its instruction 2), which load may still write ..."
  const std::optional<std::string>& race() const { return race_; }

 private:
  struct Element {
    KnownDone read{}, written{};  ///< number of the last instruction of each module that did so; 0: none
  };
  static size_t index(Engine engine) { return static_cast<size_t>(engine); }
  uint32_t& own(Engine engine) { return known_[index(engine)][index(engine)]; }
  void touch(Engine engine, Memory memory, int64_t element, bool write);

  std::array<KnownDone, kEngines> known_{};
  std::array<std::vector<Element>, kMemories> elements_;
  std::optional<std::string> race_;
};

}  // namespace farm::vta
