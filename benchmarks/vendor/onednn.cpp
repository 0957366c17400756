// oneDNN, version 2 or 3. Variants of a convolution, weights prepacked outside what is timed:
//   blocked        the library chooses every layout; reorders are not timed
//   winograd       the same by Winograd's algorithm, where the library has it
//   nhwc           activations channels-last
//   nchw           activations plain, the primitive works on them directly
//   nchw+reorder   activations plain: reorder, blocked primitive, reorder, all timed
#include <omp.h>

#include <cstring>
#include <oneapi/dnnl/dnnl.hpp>

#include "benchmarks/vendor/contender.h"

namespace farm::vendor {
namespace {

using dnnl::memory;
using dims = memory::dims;
using tag = memory::format_tag;
constexpr auto kFloat = memory::data_type::f32;

dnnl::engine& engine() {
  static dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}
dnnl::stream& stream() {
  static dnnl::stream only(engine());
  return only;
}

// Version 2 makes a primitive's descriptor from an operation's, version 3 from that one's parameters.
template <class Operation, class... Parameters>
typename Operation::primitive_desc describe(const Parameters&... parameters) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine(), parameters...};
#else
  return {typename Operation::desc(parameters...), engine()};
#endif
}

memory plain_memory(const dims& sizes, tag layout, const float* data) {
  return memory({sizes, kFloat, layout}, engine(), const_cast<float*>(data));
}

memory reordered(memory from, const memory::desc& to) {
  if (from.get_desc() == to) return from;
  memory result(to, engine());
  dnnl::reorder(from, result).execute(stream(), from, result);
  stream().wait();
  return result;
}

std::function<void(float*)> fetch_as(memory from, const dims& sizes, tag layout) {
  return [=](float* out) {
    memory plain = reordered(from, memory::desc(sizes, kFloat, layout));
    std::memcpy(out, plain.get_data_handle(), plain.get_desc().get_size());
  };
}

using Arguments = std::unordered_map<int, memory>;

std::function<void()> runner(int threads, dnnl::primitive primitive, Arguments arguments) {
  return [=] {
    omp_set_num_threads(threads);
    primitive.execute(stream(), arguments);
    stream().wait();
  };
}

struct Variant {
  const char* name;
  tag data, out;
  bool reorders = false;
  dnnl::algorithm algorithm = dnnl::algorithm::convolution_direct;
};
constexpr Variant kVariants[] = {
    {"blocked", tag::any, tag::any},
    {"winograd", tag::any, tag::any, false, dnnl::algorithm::convolution_winograd},
    {"nhwc", tag::nhwc, tag::nhwc},
    {"nchw", tag::nchw, tag::nchw},
    {"nchw+reorder", tag::any, tag::any, true},
};

// Throws dnnl::error where the library has no such primitive.
Contender convolution(const Problem& p, const Inputs& inputs, int threads, const Variant& variant) {
  const dims data_dims{p.batch, p.in_channels, p.height, p.width};
  const dims out_dims{p.batch, p.out_channels, p.out_size(0), p.out_size(1)};
  const int64_t depth = p.in_channels / p.groups;
  const dims weight_dims = p.groups > 1 ? dims{p.groups, p.out_channels / p.groups, depth, p.kernel[0], p.kernel[1]}
                                        : dims{p.out_channels, depth, p.kernel[0], p.kernel[1]};
  const dims stride{p.stride[0], p.stride[1]}, padding{p.padding[0], p.padding[1]};
  const dims dilation{p.dilation[0] - 1, p.dilation[1] - 1};
  const auto pd = describe<dnnl::convolution_forward>(
      dnnl::prop_kind::forward_inference, variant.algorithm, memory::desc(data_dims, kFloat, variant.data),
      memory::desc(weight_dims, kFloat, tag::any), memory::desc(out_dims, kFloat, variant.out), stride, dilation,
      padding, padding);

  memory data = plain_memory(data_dims, tag::nchw, inputs[0].data());
  memory weight =
      reordered(plain_memory(weight_dims, p.groups > 1 ? tag::goihw : tag::oihw, inputs[1].data()), pd.weights_desc());
  memory out(pd.dst_desc(), engine());
  dnnl::convolution_forward primitive(pd);

  Contender result{
      .library = "onednn", .variant = variant.name, .plain = variant.data == tag::nchw || variant.reorders};
  if (variant.algorithm == dnnl::algorithm::convolution_winograd) result.tolerance = 1e-4;  // sums cancel large terms
  result.fetch = fetch_as(out, out_dims, tag::nchw);
  if (!variant.reorders) {
    memory own = reordered(data, pd.src_desc());
    result.run = runner(threads, primitive, {{DNNL_ARG_SRC, own}, {DNNL_ARG_WEIGHTS, weight}, {DNNL_ARG_DST, out}});
    return result;
  }
  memory inner(pd.src_desc(), engine()), plain_out(memory::desc(out_dims, kFloat, tag::nchw), engine());
  bool reorder_in = data.get_desc() != pd.src_desc(), reorder_out = plain_out.get_desc() != pd.dst_desc();
  if (!reorder_in) inner = data;
  dnnl::reorder before(data, inner), after(out, plain_out);
  Arguments arguments{{DNNL_ARG_SRC, inner}, {DNNL_ARG_WEIGHTS, weight}, {DNNL_ARG_DST, out}};
  result.run = [=]() mutable {
    omp_set_num_threads(threads);
    if (reorder_in) before.execute(stream(), data, inner);
    primitive.execute(stream(), arguments);
    if (reorder_out) after.execute(stream(), out, plain_out);
    stream().wait();
  };
  return result;
}

Contender product(const Problem& p, const Inputs& inputs, int threads, bool prepacked) {
  const bool batched = p.batch > 1;
  const tag plain = batched ? tag::abc : tag::ab;
  const dims a_dims = batched ? dims{p.batch, p.m, p.k} : dims{p.m, p.k};
  const dims b_dims = batched ? dims{p.batch, p.k, p.n} : dims{p.k, p.n};
  const dims out_dims = batched ? dims{p.batch, p.m, p.n} : dims{p.m, p.n};
  const auto pd = describe<dnnl::matmul>(memory::desc(a_dims, kFloat, plain),
                                         memory::desc(b_dims, kFloat, prepacked ? tag::any : plain),
                                         memory::desc(out_dims, kFloat, plain));
  memory a = plain_memory(a_dims, plain, inputs[0].data());
  memory b = reordered(plain_memory(b_dims, plain, inputs[1].data()), pd.weights_desc());
  memory out(pd.dst_desc(), engine());
  return {.library = "onednn",
          .variant = prepacked ? "matmul, b prepacked" : "matmul",
          .plain = true,
          .run = runner(threads, dnnl::matmul(pd), {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, out}}),
          .fetch = fetch_as(out, out_dims, plain)};
}

}  // namespace

void add_onednn(const Problem& problem, const Inputs& inputs, int threads, Contenders& contenders) {
  omp_set_num_threads(threads);  // oneDNN fixes how it splits the work when a primitive is made
  auto add = [&](auto&& make) {
    try {
      contenders.push_back(make());
    } catch (const dnnl::error&) {
      // this version has no such primitive for this shape
    }
  };
  if (problem.convolution) {
    for (const Variant& variant : kVariants) add([&] { return convolution(problem, inputs, threads, variant); });
  } else {
    for (bool prepacked : {false, true}) add([&] { return product(problem, inputs, threads, prepacked); });
  }
}

std::string onednn_version() {
  const auto* v = dnnl_version();
  return std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch);
}

}  // namespace farm::vendor
