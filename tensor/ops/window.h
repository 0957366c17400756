// Private to the room `tensor`: the geometry that both convolutions share.
#pragma once
#include "tensor/op.h"

namespace farm {

/// A sliding window over a padded image, height first in each pair.
struct WindowGeometry {
  int64_t height, width;  ///< of the input
  int64_t kernel_h, kernel_w;
  int64_t stride_h, stride_w;
  int64_t padding_h, padding_w;
  int64_t dilation_h, dilation_w;
  int64_t out_h, out_w;

  int64_t padded_h() const { return height + 2 * padding_h; }
  int64_t padded_w() const { return width + 2 * padding_w; }
  int64_t out_pixels() const { return out_h * out_w; }
};
WindowGeometry window_geometry(const Attributes& attributes);

/// The keys `kernel stride padding dilation`, to be put behind an operator's own.
std::vector<KeySpec> window_keys();
/// The window must fit into the padded input.
Status check_window(std::string_view op, const Attributes& attributes);

/// Appends the stage `padded` when there is padding and returns the buffer that the reduction reads.
Buffer add_padded_stage(Compute& compute, const Buffer& data, const WindowGeometry& geometry);

}  // namespace farm
