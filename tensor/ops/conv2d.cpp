/// 2-D convolution, data NCHW, weight KCRS.
///   out[n,k,y,x] = sum c,r,s  data[n, c, y*stride + r*dilation - padding, x*stride + s*dilation - padding] *
///   weight[k,c,r,s]
/// Shapes   data [N,C,H,W]   weight [K,C/groups,R,S], constant   out [N,K,P,Q],
///          P = (H + 2*padding - dilation*(R-1) - 1)/stride + 1.  Output channels of group g read input channels of it.
/// Types    float32.      Work  2*N*K*P*Q*R*S*C/groups flops, products with padding included.
/// Errors   InvalidArgument when C or K is no multiple of groups or the window does not fit.
/// Source   ONNX Conv-11. Reads out of range give zero.
#include <algorithm>

#include "tensor/ops/ops.h"
#include "tensor/ops/panel.h"
#include "tensor/ops/window.h"

namespace farm {

static Status check_divisible(const Attributes& a, const char* key) {
  if (!a.has(key) || a.count(key) % a.count("groups") == 0) return {};
  return fail(ErrorCode::InvalidArgument, "conv2d: ", key, " is ", a.count(key), " when groups is ", a.count("groups"),
              "; ", key, " must be a multiple of groups");
}

static Status check(const Attributes& a) {
  FARM_CHECK(check_divisible(a, "in_channels"));
  FARM_CHECK(check_divisible(a, "out_channels"));
  FARM_CHECK(check_window("conv2d", a));
  if (!a.has_all({"in_channels", "out_channels", "height", "width", "kernel"})) return {};
  WindowGeometry g = window_geometry(a);
  FARM_CHECK(check_elements("conv2d", "the padded data",
                            {a.count("batch"), a.count("in_channels"), g.padded_h(), g.padded_w()}));
  FARM_CHECK(
      check_elements("conv2d", "weight",
                     {a.count("out_channels"), a.count("in_channels") / a.count("groups"), g.kernel_h, g.kernel_w}));
  return check_elements("conv2d", "out", {a.count("batch"), a.count("out_channels"), g.out_h, g.out_w});
}

static Compute build(const Attributes& a) {
  WindowGeometry g = window_geometry(a);
  int64_t batch = a.count("batch"), in = a.count("in_channels"), out_channels = a.count("out_channels"),
          groups = a.count("groups");
  int64_t group_in = in / groups, group_out = out_channels / groups;

  Compute compute;
  Buffer data = make_buffer("data", kFloat32, {batch, in, g.height, g.width});
  Buffer weight = make_buffer("weight", kFloat32, {out_channels, group_in, g.kernel_h, g.kernel_w});
  compute.inputs = {{data, false}, {weight, true}};
  Buffer source = add_padded_stage(compute, data, g);

  Var n = make_var("n"), k = make_var("k"), y = make_var("y"), x = make_var("x");
  Var c = make_var("c"), r = make_var("r"), s = make_var("s");
  Expr channel = var_expr(c);
  if (groups > 1) channel = floor_div(var_expr(k), int_imm(group_out)) * group_in + channel;
  Expr row = var_expr(y) * g.stride_h + var_expr(r) * g.dilation_h;
  Expr column = var_expr(x) * g.stride_w + var_expr(s) * g.dilation_w;
  compute.stages.push_back({make_buffer("out", kFloat32, {batch, out_channels, g.out_h, g.out_w}),
                            {{n, batch}, {k, out_channels}, {y, g.out_h}, {x, g.out_w}},
                            {{c, group_in}, {r, g.kernel_h}, {s, g.kernel_w}},
                            load(source, {var_expr(n), channel, row, column}) *
                                load(weight, {var_expr(k), var_expr(c), var_expr(r), var_expr(s)})});
  compute.flops =
      2.0 * double(batch * out_channels) * double(g.out_pixels()) * double(group_in * g.kernel_h * g.kernel_w);
  return compute;
}

/// What 16 output pixels from `first` on read, in the order c,r,s.
static void gather(const WindowGeometry& g, const float* image, int64_t channels, int64_t first, int64_t columns,
                   float* panel) {
  for (int64_t c = 0; c < channels; ++c, image += g.height * g.width)
    for (int64_t r = 0; r < g.kernel_h; ++r)
      for (int64_t s = 0; s < g.kernel_w; ++s, panel += kPanelColumns)
        for (int64_t j = 0; j < columns; ++j) {
          int64_t y = (first + j) / g.out_w * g.stride_h + r * g.dilation_h - g.padding_h;
          int64_t x = (first + j) % g.out_w * g.stride_w + s * g.dilation_w - g.padding_w;
          bool is_inside = y >= 0 && y < g.height && x >= 0 && x < g.width;
          panel[j] = is_inside ? image[y * g.width + x] : 0.0f;
        }
}

static void reference_conv2d(const Attributes& a, const Inputs& inputs, Reference& result) {
  WindowGeometry g = window_geometry(a);
  int64_t groups = a.count("groups"), group_in = a.count("in_channels") / groups,
          group_out = a.count("out_channels") / groups;
  int64_t depth = group_in * g.kernel_h * g.kernel_w, pixels = g.out_pixels();
  std::vector<float> panel(size_t(depth * kPanelColumns));
  const float *data = inputs[0].data(), *weight = inputs[1].data();

  for (int64_t image = 0; image < a.count("batch") * groups; ++image)  // one image of one group at a time
    for (int64_t first = 0; first < pixels; first += kPanelColumns) {
      int64_t columns = std::min<int64_t>(kPanelColumns, pixels - first), group = image % groups;
      gather(g, data + image * group_in * g.height * g.width, group_in, first, columns, panel.data());
      for (int64_t k = 0; k < group_out; ++k) {
        PanelSums sums = multiply_panel(weight + (group * group_out + k) * depth, panel.data(), depth);
        int64_t at = (image * group_out + k) * pixels + first;
        std::copy_n(sums.sum.begin(), columns, result.output.begin() + at);
        std::copy_n(sums.terms.begin(), columns, result.terms.begin() + at);
      }
    }
}

Op conv2d_op() {
  std::vector<KeySpec> keys = {
      {"batch", KeyKind::Count, "1"}, {"in_channels"}, {"height"}, {"width"}, {"out_channels"},
  };
  for (const KeySpec& key : window_keys()) keys.push_back(key);
  keys.push_back({"groups", KeyKind::Count, "1"});
  return {"conv2d",
          keys,
          "in_channels=64,height=56,width=56,out_channels=64,kernel=3,padding=1",
          "ResNet-18's 3x3 convolution, 56x56, 64 to 64 channels",
          check,
          build,
          reference_conv2d};
}

}  // namespace farm
