#include "runtime/vta/races.h"

#include <algorithm>

namespace farm::vta {

RaceFinder::RaceFinder() {
  for (int m = 0; m < kMemories; ++m)
    elements_[static_cast<size_t>(m)].resize(static_cast<size_t>(elements_of(static_cast<Memory>(m))));
}

void RaceFinder::pop(Engine engine, const KnownDone& token) {
  KnownDone& known = known_[index(engine)];
  for (size_t i = 0; i < known.size(); ++i) known[i] = std::max(known[i], token[i]);
}

void RaceFinder::touch(Engine engine, Memory memory, int64_t at, bool write) {
  Element& element = elements_[static_cast<size_t>(memory)][static_cast<size_t>(at)];
  const KnownDone& known = known_[index(engine)];
  for (size_t other = 0; other < known.size() && !race_; ++other) {
    if (other == index(engine)) continue;
    bool after_write = element.written[other] > known[other], after_read = write && element.read[other] > known[other];
    if (!after_write && !after_read) continue;
    race_ = detail::concat(to_string(engine), write ? " writes" : " reads", " element ", at, " of the ",
                           to_string(memory), " memory (its instruction ", own(engine) - 1, "), which ",
                           to_string(static_cast<Engine>(other)), " may still ", after_write ? "write" : "read",
                           " (its instruction ", (after_write ? element.written : element.read)[other] - 1, ")");
  }
  (write ? element.written : element.read)[index(engine)] = own(engine);
}

}  // namespace farm::vta
