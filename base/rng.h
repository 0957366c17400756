// Chance comes in as a parameter: the same seed gives the same numbers on every host and library.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace farm {

/// xoshiro256**; own distributions, since the standard library's differ between vendors.
class Rng {
 public:
  explicit Rng(uint64_t seed);

  uint64_t next();
  /// Uniform in [0, bound); bound > 0.
  uint64_t below(uint64_t bound);
  /// Uniform in [0, 1).
  double uniform();
  /// True with probability p.
  bool chance(double p) { return uniform() < p; }
  /// Fisher-Yates.
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }
  /// An independent stream for one purpose: `Rng(seed).fork("inputs")`.
  Rng fork(std::string_view purpose) const;

 private:
  uint64_t state_[4];
};

}  // namespace farm
