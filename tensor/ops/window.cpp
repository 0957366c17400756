#include "tensor/ops/window.h"

namespace farm {

WindowGeometry window_geometry(const Attributes& attributes) {
  const KeyValue &kernel = attributes.window("kernel"), &stride = attributes.window("stride");
  const KeyValue &padding = attributes.window("padding"), &dilation = attributes.window("dilation");
  WindowGeometry g{attributes.count("height"),
                   attributes.count("width"),
                   kernel.h,
                   kernel.w,
                   stride.h,
                   stride.w,
                   padding.h,
                   padding.w,
                   dilation.h,
                   dilation.w,
                   0,
                   0};
  g.out_h = (g.padded_h() - g.dilation_h * (g.kernel_h - 1) - 1) / g.stride_h + 1;
  g.out_w = (g.padded_w() - g.dilation_w * (g.kernel_w - 1) - 1) / g.stride_w + 1;
  return g;
}

std::vector<KeySpec> window_keys() {
  return {
      {"kernel", KeyKind::Window},
      {"stride", KeyKind::Window, "1"},
      {"padding", KeyKind::Padding, "0"},
      {"dilation", KeyKind::Window, "1"},
  };
}

static Status check_side(std::string_view op, const char* side, int64_t size, int64_t kernel, int64_t padding,
                         int64_t dilation) {
  int64_t span = dilation * (kernel - 1) + 1, room = size + 2 * padding;
  if (span <= room) return {};
  std::string with = dilation > 1 ? " with dilation " + std::to_string(dilation) : "";
  std::string around = padding > 0 ? " with padding " + std::to_string(padding) : "";
  return fail(ErrorCode::InvalidArgument, op, ": kernel is ", kernel, with, " when ", side, " is ", size, around,
              "; the window spans ", span, " and must fit into ", room);
}

Status check_window(std::string_view op, const Attributes& attributes) {
  if (!attributes.has("kernel")) return {};
  const KeyValue &kernel = attributes.window("kernel"), &padding = attributes.window("padding"),
                 &dilation = attributes.window("dilation");
  if (attributes.has("height"))
    FARM_CHECK(check_side(op, "height", attributes.count("height"), kernel.h, padding.h, dilation.h));
  if (attributes.has("width"))
    FARM_CHECK(check_side(op, "width", attributes.count("width"), kernel.w, padding.w, dilation.w));
  return {};
}

static Expr inside(Expr at, int64_t padding, int64_t size) {
  return logical_and(less_equal(int_imm(padding), at), less(at, int_imm(padding + size)));
}

Buffer add_padded_stage(Compute& compute, const Buffer& data, const WindowGeometry& g) {
  if (g.padding_h == 0 && g.padding_w == 0) return data;
  const Shape& from = data->shape;
  Buffer padded = make_buffer("padded", data->dtype, {from[0], from[1], g.padded_h(), g.padded_w()}, Scope::Workspace);
  Var n = make_var("n"), c = make_var("c"), y = make_var("y"), x = make_var("x");

  // A side without padding needs no test.
  Expr condition;
  if (g.padding_h > 0) condition = inside(var_expr(y), g.padding_h, g.height);
  if (g.padding_w > 0) {
    Expr columns = inside(var_expr(x), g.padding_w, g.width);
    condition = condition ? logical_and(condition, columns) : columns;
  }
  Expr value = load(data, {var_expr(n), var_expr(c), var_expr(y) - g.padding_h, var_expr(x) - g.padding_w});
  compute.stages.push_back({padded,
                            {{n, from[0]}, {c, from[1]}, {y, g.padded_h()}, {x, g.padded_w()}},
                            {},
                            select(condition, value, float_imm(0, data->dtype))});
  return padded;
}

}  // namespace farm
