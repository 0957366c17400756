#include "tensor/ops/ops.h"

namespace farm {

const std::vector<Op>& ops() {
  static const std::vector<Op> table = {
      conv2d_op(),
      depthwise_conv2d_op(),
      matmul_op(),
      batch_matmul_op(),
  };
  return table;
}

}  // namespace farm
