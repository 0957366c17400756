#include "base/rng.h"

#include <bit>
#include <cstring>

#include "base/hash.h"

namespace farm {

static uint64_t splitmix(uint64_t& state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

Rng::Rng(uint64_t seed) {
  for (auto& word : state_) word = splitmix(seed);
}

uint64_t Rng::next() {
  uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

/// Upper half of the product, by words of 32 bits: boards of that size have no 128-bit integers.
static uint64_t multiply_high(uint64_t a, uint64_t b) {
  uint64_t a_high = a >> 32, a_low = a & 0xffffffff, b_high = b >> 32, b_low = b & 0xffffffff;
  uint64_t middle = a_high * b_low + (a_low * b_low >> 32);
  uint64_t carry = (middle & 0xffffffff) + a_low * b_high;
  return a_high * b_high + (middle >> 32) + (carry >> 32);
}

uint64_t Rng::below(uint64_t bound) {
  // Lemire's multiply-shift; the bias of 2^-64 * bound is far below anything that a search could notice.
  return multiply_high(next(), bound);
}

double Rng::uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

Rng Rng::fork(std::string_view purpose) const {
  Hash hash = hash_text(purpose);
  uint64_t salt;
  std::memcpy(&salt, hash.bytes.data(), sizeof salt);
  return Rng(state_[0] ^ std::rotl(state_[3], 17) ^ salt);
}

}  // namespace farm
