#include "tensor/task.h"

#include "testing.h"

namespace farm {

static std::string text_of(std::string_view op, std::string_view shape) {
  auto task = make_task(op, shape);
  return task ? task->text() : "error: " + task.error().message;
}

TEST_CASE("a task's text holds the attributes in the op's order without those at their default") {
  CHECK(text_of("conv2d",
                "out_channels=8, kernel=3x3, padding=1x1,in_channels=4,height=9,width=7,stride=1,groups=1,batch=1") ==
        "conv2d(in_channels=4,height=9,width=7,out_channels=8,kernel=3,padding=1)");
  CHECK(text_of("conv2d",
                "in_channels=4,height=9,width=7,out_channels=8,kernel=3x5,stride=2x1,dilation=1x2,padding=0x4,groups=2,"
                "batch=3") ==
        "conv2d(batch=3,in_channels=4,height=9,width=7,out_channels=8,kernel=3x5,stride=2x1,padding=0x4,dilation=1x2,"
        "groups=2)");
  CHECK(text_of("depthwise_conv2d", "in_channels=4,height=9,width=7,kernel=3,multiplier=2") ==
        "depthwise_conv2d(in_channels=4,height=9,width=7,kernel=3,multiplier=2)");
  CHECK(text_of("matmul", "m=1,n=2,k=3,bias=1,transpose_b=0,constant=b") == "matmul(m=1,n=2,k=3,bias=1,constant=b)");
  CHECK(text_of("batch_matmul", "m=1,n=2,k=3,transpose_b=1") == "batch_matmul(m=1,n=2,k=3,transpose_b=1)");
}

TEST_CASE("a task's text can be read back") {
  for (const Network& network : catalogue())
    for (const Layer& layer : network.layers) {
      auto again = task_from_text(layer.task.text());
      REQUIRE(again.has_value());
      CHECK(*again == layer.task);
      CHECK(again->hash() == layer.task.hash());
    }
}

TEST_CASE("a text that is no task is refused") {
  CHECK(task_from_text("conv2d").error().message == "\"conv2d\" is no task; one reads like matmul(m=64,n=64,k=64)");
  CHECK(task_from_text("").error().message == "\"\" is no task; one reads like matmul(m=64,n=64,k=64)");
  CHECK(task_from_text("conv3d(m=1)").error().message ==
        "no operator is called conv3d (did you mean conv2d?); operators are conv2d, depthwise_conv2d, matmul, "
        "batch_matmul");
}

TEST_CASE("a wrong value is named with what is allowed") {
  CHECK(text_of("matmul", "m=0,n=1,k=1") == "error: matmul: m is \"0\"; it must be a whole number from 1 to 16777216");
  CHECK(text_of("matmul", "m=1e3,n=1,k=1") ==
        "error: matmul: m is \"1e3\"; it must be a whole number from 1 to 16777216");
  CHECK(text_of("matmul", "m=99999999999999999999,n=1,k=1") ==
        "error: matmul: m is \"99999999999999999999\"; it must be a whole number from 1 to 16777216");
  CHECK(text_of("matmul", "m=,n=1,k=1") == "error: matmul: m is \"\"; it must be a whole number from 1 to 16777216");
  CHECK(text_of("conv2d", "kernel=3x") ==
        "error: conv2d: kernel is \"3x\"; it must be a whole number from 1 to 16777216, or two such as 3x5, height "
        "first");
  CHECK(text_of("conv2d", "padding=-1") ==
        "error: conv2d: padding is \"-1\"; it must be a whole number from 0 to 16777216, or two such as 1x2, height "
        "first");
  CHECK(text_of("matmul", "bias=yes") == "error: matmul: bias is \"yes\"; it must be 0 or 1");
  CHECK(text_of("matmul", "constant=a") == "error: matmul: constant is \"a\"; it must be b");
}

TEST_CASE("an unknown, doubled or misshapen key is named") {
  CHECK(text_of("matmul", "transposeb=1") ==
        "error: matmul: no key is called transposeb (did you mean transpose_b?); keys are m, n, k, bias, transpose_b, "
        "constant");
  CHECK(text_of("matmul", "m=1,m=1") == "error: matmul: m is given twice");
  CHECK(text_of("matmul", "m=1,,k=2") == "error: matmul: \"\" in the shape is not of the form key=value");
  CHECK(text_of("matmul", "64") == "error: matmul: \"64\" in the shape is not of the form key=value");
  CHECK(text_of("matmul", "\x1b[2J=1") ==
        "error: matmul: no key is called \\x1b[2J; keys are m, n, k, bias, transpose_b, constant");
}

TEST_CASE("given values are judged before missing ones are asked for") {
  CHECK(text_of("conv2d", "in_channels=12,groups=5") ==
        "error: conv2d: in_channels is 12 when groups is 5; in_channels must be a multiple of groups");
  CHECK(text_of("conv2d", "out_channels=7,groups=2") ==
        "error: conv2d: out_channels is 7 when groups is 2; out_channels must be a multiple of groups");
  CHECK(text_of("conv2d", "height=4,kernel=7,padding=1") ==
        "error: conv2d: kernel is 7 when height is 4 with padding 1; the window spans 7 and must fit into 6");
  CHECK(text_of("conv2d", "width=4,kernel=1x3,dilation=2") ==
        "error: conv2d: kernel is 3 with dilation 2 when width is 4; the window spans 5 and must fit into 4");
  CHECK(text_of("conv2d", "in_channels=12,kernel=3") ==
        "error: conv2d: the shape has no height, width, out_channels; a whole one is "
        "in_channels=64,height=56,width=56,out_channels=64,kernel=3,padding=1");
  CHECK(text_of("matmul", "") == "error: matmul: the shape has no m, n, k; a whole one is m=1024,n=1024,k=1024");
}

TEST_CASE("a tensor that indices could not reach is refused") {
  CHECK(text_of("matmul", "m=65536,n=1,k=65536") ==
        "error: matmul: a would be 65536x65536; a tensor may have at most 2147483647 elements");
  CHECK(
      text_of("conv2d", "batch=16777216,in_channels=16777216,height=16777216,width=16777216,out_channels=1,kernel=1") ==
      "error: conv2d: the padded data would be 16777216x16777216x16777216x16777216; a tensor may have at most "
      "2147483647 elements");
  CHECK(text_of("matmul", "m=32768,n=65535,k=1") == "matmul(m=32768,n=65535,k=1)");
}

TEST_CASE("the signature lists inputs with their types, constants last") {
  auto conv =
      signature(*make_task("conv2d", "in_channels=4,height=9,width=7,out_channels=8,kernel=3,groups=2,stride=2"));
  REQUIRE(conv.has_value());
  REQUIRE(conv->inputs.size() == 2);
  CHECK(conv->inputs[0].name == "data");
  CHECK_FALSE(conv->inputs[0].constant);
  CHECK(conv->inputs[1].type == TensorType{kFloat32, {8, 2, 3, 3}});
  CHECK(conv->inputs[1].constant);
  CHECK(conv->output.type == TensorType{kFloat32, {1, 8, 4, 3}});
  CHECK(conv->flops == 2.0 * 8 * 4 * 3 * 2 * 9);

  auto dense = signature(*make_task("matmul", "m=2,n=3,k=4,bias=1,constant=b"));
  REQUIRE(dense->inputs.size() == 3);
  CHECK(dense->inputs[1].name == "bias");
  CHECK((dense->inputs[2].name == "b" && dense->inputs[2].constant));
}

TEST_CASE("make_compute and reference refuse a task that was put together wrongly") {
  Task wrong{"conv2d", {{"in_channels", "3"}}};
  CHECK_FALSE(make_compute(wrong).has_value());
  auto matmul = make_task("matmul", "m=1,n=1,k=2");
  CHECK(reference(*matmul, {{1, 2}}).error().message == "matmul(m=1,n=1,k=2): 1 inputs where 2 are needed");
  CHECK(reference(*matmul, {{1, 2}, {1}}).error().message ==
        "matmul(m=1,n=1,k=2): input b has 1 elements; it must have 2");
}

}  // namespace farm
