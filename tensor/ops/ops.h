// Private to the room `tensor`: one maker an operator.
#pragma once
#include "tensor/op.h"

namespace farm {

Op conv2d_op();
Op depthwise_conv2d_op();
Op matmul_op();
Op batch_matmul_op();

}  // namespace farm
