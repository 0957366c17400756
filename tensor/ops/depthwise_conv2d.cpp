/// Depthwise 2-D convolution, data NCHW: each channel has filters of its own.
///   out[n,k,y,x] = sum r,s  data[n, k/multiplier, y*stride + r*dilation - padding, x*stride + s*dilation - padding] *
///   weight[k,0,r,s]
/// Shapes   data [N,C,H,W]   weight [C*multiplier,1,R,S], constant   out [N,C*multiplier,P,Q], P and Q as for conv2d.
/// Types    float32.      Work  2*N*C*multiplier*P*Q*R*S flops, products with padding included.
/// Errors   InvalidArgument when the window does not fit.
/// Source   ONNX Conv-11 with group = C.
#include <cmath>

#include "tensor/ops/ops.h"
#include "tensor/ops/window.h"

namespace farm {

static constexpr const char* kName = "depthwise_conv2d";

static Status check(const Attributes& a) {
  FARM_CHECK(check_window(kName, a));
  if (!a.has_all({"in_channels", "height", "width", "kernel"})) return {};
  WindowGeometry g = window_geometry(a);
  FARM_CHECK(
      check_elements(kName, "the padded data", {a.count("batch"), a.count("in_channels"), g.padded_h(), g.padded_w()}));
  FARM_CHECK(check_elements(kName, "weight", {a.count("in_channels"), a.count("multiplier"), g.kernel_h, g.kernel_w}));
  return check_elements(kName, "out",
                        {a.count("batch"), a.count("in_channels"), a.count("multiplier"), g.out_h, g.out_w});
}

static Compute build(const Attributes& a) {
  WindowGeometry g = window_geometry(a);
  int64_t batch = a.count("batch"), in = a.count("in_channels"), multiplier = a.count("multiplier"),
          out_channels = in * multiplier;

  Compute compute;
  Buffer data = make_buffer("data", kFloat32, {batch, in, g.height, g.width});
  Buffer weight = make_buffer("weight", kFloat32, {out_channels, 1, g.kernel_h, g.kernel_w});
  compute.inputs = {{data, false}, {weight, true}};
  Buffer source = add_padded_stage(compute, data, g);

  Var n = make_var("n"), k = make_var("k"), y = make_var("y"), x = make_var("x"), r = make_var("r"), s = make_var("s");
  Expr channel = multiplier == 1 ? var_expr(k) : floor_div(var_expr(k), int_imm(multiplier));
  Expr row = var_expr(y) * g.stride_h + var_expr(r) * g.dilation_h;
  Expr column = var_expr(x) * g.stride_w + var_expr(s) * g.dilation_w;
  compute.stages.push_back({make_buffer("out", kFloat32, {batch, out_channels, g.out_h, g.out_w}),
                            {{n, batch}, {k, out_channels}, {y, g.out_h}, {x, g.out_w}},
                            {{r, g.kernel_h}, {s, g.kernel_w}},
                            load(source, {var_expr(n), channel, row, column}) *
                                load(weight, {var_expr(k), int_imm(0), var_expr(r), var_expr(s)})});
  compute.flops = 2.0 * double(batch * out_channels) * double(g.out_pixels()) * double(g.kernel_h * g.kernel_w);
  return compute;
}

/// One output row of one channel: the window's elements outermost, so that the inner loop runs along the row.
static void reference_row(const WindowGeometry& g, const float* image, const float* filter, int64_t y,
                          std::vector<double>& sum, std::vector<double>& terms) {
  for (int64_t r = 0; r < g.kernel_h; ++r)
    for (int64_t s = 0; s < g.kernel_w; ++s) {
      int64_t row = y * g.stride_h + r * g.dilation_h - g.padding_h;
      if (row < 0 || row >= g.height) continue;
      for (int64_t x = 0; x < g.out_w; ++x) {
        int64_t column = x * g.stride_w + s * g.dilation_w - g.padding_w;
        if (column < 0 || column >= g.width) continue;
        double product = double(image[row * g.width + column]) * filter[r * g.kernel_w + s];
        sum[size_t(x)] += product;
        terms[size_t(x)] += std::fabs(product);
      }
    }
}

static void reference_depthwise(const Attributes& a, const Inputs& inputs, Reference& result) {
  WindowGeometry g = window_geometry(a);
  int64_t multiplier = a.count("multiplier"), out_channels = a.count("in_channels") * multiplier;
  std::vector<double> sum(size_t(g.out_w)), terms(size_t(g.out_w));
  for (int64_t nk = 0; nk < a.count("batch") * out_channels; ++nk)
    for (int64_t y = 0; y < g.out_h; ++y) {
      std::fill(sum.begin(), sum.end(), 0.0);
      std::fill(terms.begin(), terms.end(), 0.0);
      const float* image = inputs[0].data() + nk / multiplier * g.height * g.width;
      const float* filter = inputs[1].data() + nk % out_channels * g.kernel_h * g.kernel_w;
      reference_row(g, image, filter, y, sum, terms);
      int64_t at = nk * g.out_pixels() + y * g.out_w;
      std::copy(sum.begin(), sum.end(), result.output.begin() + at);
      std::copy(terms.begin(), terms.end(), result.terms.begin() + at);
    }
}

Op depthwise_conv2d_op() {
  std::vector<KeySpec> keys = {{"batch", KeyKind::Count, "1"}, {"in_channels"}, {"height"}, {"width"}};
  for (const KeySpec& key : window_keys()) keys.push_back(key);
  keys.push_back({"multiplier", KeyKind::Count, "1"});
  return {kName,
          keys,
          "in_channels=144,height=56,width=56,kernel=3,padding=1",
          "MobileNetV2's 3x3 depthwise convolution, 56x56, 144 channels",
          check,
          build,
          reference_depthwise};
}

}  // namespace farm
