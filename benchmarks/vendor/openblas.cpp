// OpenBLAS, opened at run time: matrix products directly, convolutions as im2col + sgemm.
#include <dlfcn.h>
#include <omp.h>

#include <cstring>
#include <memory>

#include "benchmarks/vendor/contender.h"

namespace farm::vendor {
namespace {

constexpr int kRowMajor = 101, kNoTranspose = 111;  // cblas.h

struct OpenBlas {
  void (*sgemm)(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*,
                int) = nullptr;
  void (*set_threads)(int) = nullptr;
  char* (*config)() = nullptr;
  explicit operator bool() const { return sgemm && set_threads; }
};

const OpenBlas& openblas() {
  static const OpenBlas library = [] {
    OpenBlas found;
    void* handle = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return found;
    found.sgemm = reinterpret_cast<decltype(found.sgemm)>(dlsym(handle, "cblas_sgemm"));
    found.set_threads = reinterpret_cast<decltype(found.set_threads)>(dlsym(handle, "openblas_set_num_threads"));
    found.config = reinterpret_cast<decltype(found.config)>(dlsym(handle, "openblas_get_config"));
    return found;
  }();
  return library;
}

// out[m,n] = a[m,k] * b[k,n]
void multiply(int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* out) {
  openblas().sgemm(kRowMajor, kNoTranspose, kNoTranspose, int(m), int(n), int(k), 1, a, int(k), b, int(n), 0, out,
                   int(n));
}

// Row (channel, kernel row, kernel column) of the matrix that a convolution's weight is multiplied with.
void gather_row(const Problem& p, const float* data, int64_t row, float* out) {
  int64_t taps = p.kernel[0] * p.kernel[1], channel = row / taps;
  int64_t offset_y = row % taps / p.kernel[1] * p.dilation[0] - p.padding[0];
  int64_t offset_x = row % p.kernel[1] * p.dilation[1] - p.padding[1];
  for (int64_t y = 0; y < p.out_size(0); ++y) {
    int64_t in_y = y * p.stride[0] + offset_y;
    const float* line = data + (channel * p.height + in_y) * p.width;
    for (int64_t x = 0; x < p.out_size(1); ++x) {
      int64_t in_x = x * p.stride[1] + offset_x;
      bool inside = in_y >= 0 && in_y < p.height && in_x >= 0 && in_x < p.width;
      *out++ = inside ? line[in_x] : 0.0f;
    }
  }
}

Contender convolution(const Problem& p, const Inputs& inputs, int threads, std::vector<float>& out) {
  const int64_t pixels = p.out_size(0) * p.out_size(1), depth = p.in_channels * p.kernel[0] * p.kernel[1];
  const bool pointwise = depth == p.in_channels && p.stride[0] == 1 && p.stride[1] == 1 && p.padding[0] == 0;
  auto columns = std::make_shared<std::vector<float>>(pointwise ? 0 : depth * pixels);
  const float *data = inputs[0].data(), *weight = inputs[1].data();
  Contender result{.library = "openblas", .variant = pointwise ? "sgemm" : "im2col + sgemm", .plain = true};
  result.run = [=, &out] {
    openblas().set_threads(threads);
    if (!pointwise) {
#pragma omp parallel for num_threads(threads)
      for (int64_t row = 0; row < depth; ++row) gather_row(p, data, row, columns->data() + row * pixels);
    }
    multiply(p.out_channels, pixels, depth, weight, pointwise ? data : columns->data(), out.data());
  };
  return result;
}

Contender product(const Problem& p, const Inputs& inputs, int threads, std::vector<float>& out) {
  const float *a = inputs[0].data(), *b = inputs[1].data();
  Contender result{.library = "openblas", .variant = "sgemm", .plain = true};
  result.run = [=, &out] {
    openblas().set_threads(threads);
    for (int64_t i = 0; i < p.batch; ++i) {
      multiply(p.m, p.n, p.k, a + i * p.m * p.k, b + i * p.k * p.n, out.data() + i * p.m * p.n);
    }
  };
  return result;
}

}  // namespace

void add_openblas(const Problem& p, const Inputs& inputs, int threads, Contenders& contenders) {
  if (!openblas() || p.groups > 1 || (p.convolution && p.batch > 1)) return;
  auto out = std::make_shared<std::vector<float>>(p.convolution ? p.out_channels * p.out_size(0) * p.out_size(1)
                                                                : p.batch * p.m * p.n);
  Contender contender = p.convolution ? convolution(p, inputs, threads, *out) : product(p, inputs, threads, *out);
  contender.fetch = [out](float* to) { std::memcpy(to, out->data(), out->size() * sizeof(float)); };
  contenders.push_back(std::move(contender));
}

std::string openblas_version() { return openblas().config ? openblas().config() : ""; }

}  // namespace farm::vendor
