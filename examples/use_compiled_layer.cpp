// Links a compiled convolution and holds every way of calling it against a plain loop: in one call, packed once and run
// often, from several threads at the same time, and on floats that are aligned to nothing but themselves.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <thread>
#include <vector>

#include "my_conv.h"

namespace {

constexpr int kBatch = 2, kIn = 6, kHeight = 13, kWidth = 17, kOut = 20, kR = 3, kS = 5;
constexpr int kStrideY = 2, kPadY = 1, kPadX = 2;
constexpr int kP = (kHeight + 2 * kPadY - kR) / kStrideY + 1, kQ = kWidth + 2 * kPadX - kS + 1;

/// Floats that begin one element beyond a multiple of 64 bytes.
class Misaligned {
 public:
  explicit Misaligned(size_t size) : storage_(size + 32), size_(size) {}
  float* data() { return storage_.data() + offset(); }
  size_t size() const { return size_; }

 private:
  size_t offset() const {
    size_t beyond = reinterpret_cast<uintptr_t>(storage_.data()) % 64 / sizeof(float);
    return (16 - beyond) % 16 + 1;
  }
  std::vector<float> storage_;
  size_t size_;
};

template <class Floats>
Floats random_floats(size_t size, unsigned seed) {
  Floats values(size);
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (size_t i = 0; i < size; ++i) values.data()[i] = uniform(engine);
  return values;
}

/// What is right, and how large a rounding error may be: 1e-5 of the sum of the terms' sizes.
struct Expected {
  std::vector<float> out, allowed;
};

Expected plain_loop(const float* data, const float* weight) {
  Expected expected;
  for (int n = 0; n < kBatch; ++n)
    for (int k = 0; k < kOut; ++k)
      for (int y = 0; y < kP; ++y)
        for (int x = 0; x < kQ; ++x) {
          double sum = 0, terms = 0;
          for (int c = 0; c < kIn; ++c)
            for (int r = 0; r < kR; ++r)
              for (int s = 0; s < kS; ++s) {
                int row = y * kStrideY + r - kPadY, column = x + s - kPadX;
                if (row < 0 || row >= kHeight || column < 0 || column >= kWidth) continue;
                double term = double(data[((n * kIn + c) * kHeight + row) * kWidth + column]) *
                              weight[((k * kIn + c) * kR + r) * kS + s];
                sum += term;
                terms += std::fabs(term);
              }
          expected.out.push_back(float(sum));
          expected.allowed.push_back(float(1e-5 * terms));
        }
  return expected;
}

bool is_right(const float* out, const Expected& expected) {
  for (size_t i = 0; i < expected.out.size(); ++i)
    if (!(std::fabs(out[i] - expected.out[i]) <= expected.allowed[i])) return false;
  return true;
}

constexpr size_t kDataSize = size_t(kBatch) * kIn * kHeight * kWidth, kWeightSize = size_t(kOut) * kIn * kR * kS,
                 kOutSize = size_t(kBatch) * kOut * kP * kQ;

bool in_one_call() {
  auto data = random_floats<std::vector<float>>(kDataSize, 1),
       weight = random_floats<std::vector<float>>(kWeightSize, 2);
  std::vector<float> out(kOutSize);
  return my_conv(data.data(), weight.data(), out.data()) == 0 &&
         is_right(out.data(), plain_loop(data.data(), weight.data()));
}

bool packed_once() {
  auto weight = random_floats<std::vector<float>>(kWeightSize, 3);
  std::vector<char> packed(my_conv_packed_bytes());
  if (my_conv_prepack(weight.data(), packed.data()) != 0) return false;
  for (unsigned image = 0; image < 3; ++image) {
    auto data = random_floats<std::vector<float>>(kDataSize, 10 + image);
    std::vector<float> out(kOutSize);
    if (my_conv_run(data.data(), packed.data(), out.data()) != 0) return false;
    if (!is_right(out.data(), plain_loop(data.data(), weight.data()))) return false;
  }
  return true;
}

bool misaligned() {
  auto data = random_floats<Misaligned>(kDataSize, 4), weight = random_floats<Misaligned>(kWeightSize, 5);
  Misaligned out(kOutSize), packed((my_conv_packed_bytes() + 3) / 4);
  Expected expected = plain_loop(data.data(), weight.data());
  if (my_conv(data.data(), weight.data(), out.data()) != 0 || !is_right(out.data(), expected)) return false;
  Misaligned again(kOutSize);
  return my_conv_prepack(weight.data(), packed.data()) == 0 &&
         my_conv_run(data.data(), packed.data(), again.data()) == 0 && is_right(again.data(), expected);
}

bool from_many_threads() {
  constexpr int kThreads = 4, kCalls = 25;
  std::vector<int> right(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([t, &right] {
      auto data = random_floats<std::vector<float>>(kDataSize, unsigned(20 + t));
      auto weight = random_floats<std::vector<float>>(kWeightSize, unsigned(40 + t));
      Expected expected = plain_loop(data.data(), weight.data());
      for (int call = 0; call < kCalls; ++call) {
        std::vector<float> out(kOutSize);
        right[size_t(t)] += my_conv(data.data(), weight.data(), out.data()) == 0 && is_right(out.data(), expected);
      }
    });
  for (auto& thread : threads) thread.join();
  return right == std::vector<int>(kThreads, kCalls);
}

bool report(const char* what, bool right) {
  std::printf("%-24s %s\n", what, right ? "right" : "WRONG");
  return right;
}

}  // namespace

int main() {
  bool right = report("in one call", in_one_call());
  right &= report("packed once, run often", packed_once());
  right &= report("misaligned floats", misaligned());
  right &= report("from many threads", from_many_threads());
  return right ? 0 : 1;
}
