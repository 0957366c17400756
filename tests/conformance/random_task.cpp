#include "tests/conformance/random_task.h"

#include <algorithm>
#include <initializer_list>

namespace farm {
namespace {

constexpr double kMostFlops = 4e6;

int64_t one_of(Rng& rng, std::initializer_list<int64_t> values) { return values.begin()[rng.below(values.size())]; }

/// Edges of vectors and tiles are where mistakes are.
int64_t size(Rng& rng, int64_t most) {
  if (rng.chance(0.3)) return 1 + static_cast<int64_t>(rng.below(static_cast<uint64_t>(most)));
  int64_t chosen =
      one_of(rng, {1, 2, 3, 4, 5, 7, 8, 9, 11, 13, 15, 16, 17, 19, 23, 24, 29, 31, 32, 33, 37, 40, 41, 64, 65, 97});
  return std::min(chosen, most);
}

std::string window(Rng& rng, std::initializer_list<int64_t> values) {
  int64_t h = one_of(rng, values), w = rng.chance(0.6) ? h : one_of(rng, values);
  return h == w ? std::to_string(h) : std::to_string(h) + "x" + std::to_string(w);
}

std::string pair(const char* key, int64_t value) { return std::string(key) + "=" + std::to_string(value) + ","; }
std::string pair(const char* key, const std::string& value) { return std::string(key) + "=" + value + ","; }

std::string image(Rng& rng) {
  return pair("batch", one_of(rng, {1, 1, 1, 2, 3})) + pair("height", size(rng, 41)) + pair("width", size(rng, 41)) +
         pair("kernel", window(rng, {1, 1, 2, 3, 3, 3, 4, 5})) + pair("stride", window(rng, {1, 1, 1, 2, 2, 3})) +
         pair("padding", window(rng, {0, 0, 1, 1, 2, 4})) + pair("dilation", window(rng, {1, 1, 1, 1, 2, 3}));
}

std::string conv2d_shape(Rng& rng) {
  int64_t groups = one_of(rng, {1, 1, 1, 1, 2, 3, 4});
  return image(rng) + pair("in_channels", groups * size(rng, 33)) + pair("out_channels", groups * size(rng, 65)) +
         "groups=" + std::to_string(groups);
}

std::string depthwise_shape(Rng& rng) {
  return image(rng) + pair("in_channels", size(rng, 41)) + "multiplier=" + std::to_string(one_of(rng, {1, 1, 1, 2, 3}));
}

std::string product_shape(Rng& rng) {
  return pair("m", size(rng, 97)) + pair("n", size(rng, 97)) + pair("k", size(rng, 97)) +
         "transpose_b=" + std::to_string(rng.below(2));
}

std::string matmul_shape(Rng& rng) {
  return product_shape(rng) + ",bias=" + std::to_string(rng.below(2)) + (rng.chance(0.5) ? ",constant=b" : "");
}

std::string batch_matmul_shape(Rng& rng) { return product_shape(rng) + ",batch=" + std::to_string(1 + rng.below(5)); }

std::string random_shape(std::string_view op, Rng& rng) {
  if (op == "conv2d") return conv2d_shape(rng);
  if (op == "depthwise_conv2d") return depthwise_shape(rng);
  if (op == "matmul") return matmul_shape(rng);
  if (op == "batch_matmul") return batch_matmul_shape(rng);
  FARM_ASSERT(false, "no random shapes for ", op, ": add them here");
  return {};
}

}  // namespace

Task random_task(std::string_view op, Rng& rng) {
  constexpr int kTries = 1000;
  for (int i = 0; i < kTries; ++i) {
    auto task = make_task(op, random_shape(op, rng));  // a window may not fit
    if (!task) continue;
    auto shape = signature(*task);
    if (shape && shape->flops <= kMostFlops) return *std::move(task);
  }
  FARM_ASSERT(false, "no shape of ", op, " fits after ", kTries, " tries");
  return {};
}

}  // namespace farm
