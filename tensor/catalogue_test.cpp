#include <algorithm>
#include <set>

#include "tensor/task.h"
#include "testing.h"

namespace farm {

/// GFLOP of all layers of an operator, as often as they occur.
static double gflop(const std::string& network, std::initializer_list<std::string_view> ops) {
  double sum = 0;
  auto found = resolve_tasks(network, {});
  REQUIRE(found.has_value());
  for (const Layer& layer : found->layers)
    if (std::find(ops.begin(), ops.end(), layer.task.op) != ops.end())
      sum += layer.occurrences * signature(layer.task)->flops * 1e-9;
  return sum;
}

TEST_CASE("the catalogue's work is that of the published networks") {
  CHECK(gflop("resnet18", {"conv2d"}) == Approx(3.627).epsilon(0.01));
  CHECK(gflop("resnet50", {"conv2d"}) == Approx(8.174).epsilon(0.01));
  CHECK(gflop("mobilenetv2", {"conv2d", "depthwise_conv2d"}) == Approx(0.600).epsilon(0.01));
  CHECK(gflop("bert-base", {"matmul", "batch_matmul"}) == Approx(22.35).epsilon(0.01));
}

TEST_CASE("each network has as many convolutions as it should, and no layer twice") {
  auto count = [](const std::string& network) {
    int convolutions = 0;
    std::set<std::string> texts, names;
    Network found = resolve_tasks(network, {}).value();
    for (const Layer& layer : found.layers) {
      CHECK(texts.insert(layer.task.text()).second);
      CHECK(names.insert(layer.name).second);
      if (layer.task.op != "matmul") convolutions += layer.occurrences;
    }
    return convolutions;
  };
  CHECK(count("resnet18") == 20);
  CHECK(count("resnet50") == 53);
  CHECK(count("mobilenetv2") == 52);
  CHECK(count("bert-base") == 24);
}

TEST_CASE("ResNet-18 is eleven convolutions and a dense layer") {
  auto network = resolve_tasks("resnet18", {});
  REQUIRE(network->layers.size() == 12);
  CHECK(network->layers[0].task.text() ==
        "conv2d(in_channels=3,height=224,width=224,out_channels=64,kernel=7,stride=2,padding=3)");
  CHECK(network->layers[1].task == *default_task("conv2d"));
  CHECK(network->layers[1].occurrences == 4);
  CHECK(network->layers.back().task.text() == "matmul(m=1,n=1000,k=512,constant=b)");
}

TEST_CASE("a name means a network, a layer, an operator or a task") {
  CHECK(resolve_tasks("resnet18/conv2_x", {})->layers.at(0).task == *default_task("conv2d"));
  CHECK(resolve_tasks("matmul", {})->layers.at(0).task.text() == "matmul(m=1024,n=1024,k=1024)");
  CHECK(resolve_tasks("matmul", "m=1,n=2,k=3")->layers.at(0).task.text() == "matmul(m=1,n=2,k=3)");
  CHECK(resolve_tasks("matmul(m=1,n=2,k=3)", {})->layers.at(0).task.text() == "matmul(m=1,n=2,k=3)");
}

TEST_CASE("a name that means nothing is answered with the nearest ones") {
  CHECK(resolve_tasks("resnet19", {}).error().message ==
        "no task is called resnet19 (did you mean resnet18, resnet50?); tasks are conv2d, depthwise_conv2d, matmul, "
        "batch_matmul, "
        "resnet18, resnet50, mobilenetv2, bert-base");
  CHECK(resolve_tasks("resnet18", "m=1").error().message ==
        "resnet18 has shapes of its own; leave --shape out or name an operator: conv2d, depthwise_conv2d, matmul, "
        "batch_matmul");
  CHECK(resolve_tasks("resnet18/conv2x", {}).error().message.find("did you mean resnet18/conv2_x") !=
        std::string::npos);
}

TEST_CASE("a file of tasks is read line by line") {
  auto network = network_from_lines(
      "layers.txt", "# two layers\n4 x matmul(m=1,n=2,k=3)\n\nmatmul(m=1,n=1,k=1) # one\r\nmatmul(m=1,n=2,k=3)\n");
  REQUIRE(network.has_value());
  REQUIRE(network->layers.size() == 2);
  CHECK(network->layers[0].occurrences == 5);
}

TEST_CASE("a wrong line of a file is named by its number") {
  CHECK(network_from_lines("layers.txt", "matmul(m=1,n=1,k=1)\nmatmul(m=1)\n").error().message ==
        "layers.txt:2: matmul: the shape has no n, k; a whole one is m=1024,n=1024,k=1024");
  CHECK(network_from_lines("layers.txt", "many x matmul(m=1,n=1,k=1)").error().message ==
        "layers.txt:1: \"many\" is no count; a line reads like 4 x matmul(m=64,n=64,k=64)");
  CHECK(network_from_lines("empty.txt", "\n").error().message ==
        "empty.txt holds no task; a line reads like 4 x matmul(m=64,n=64,k=64)");
}

}  // namespace farm
