// Real layers, batch 1, images of 224x224. Shapes are those of torchvision's models (ResNet-50 "v1.5": the stride sits
// in the 3x3 convolution) and of BERT-base; the last dense layer is counted, element-wise layers are not.
#include <algorithm>

#include "base/text.h"
#include "tensor/op.h"
#include "tensor/task.h"

namespace farm {
namespace {

/// Collects a network's layers; equal tasks become one layer.
class Collector {
 public:
  Collector(std::string name, std::string title) { network_ = {std::move(name), std::move(title), {}}; }

  void conv(const std::string& name, int64_t size, int64_t in, int64_t out, int64_t kernel, int64_t stride,
            int times = 1) {
    add(name, "conv2d", image(size, in) + ",out_channels=" + std::to_string(out) + window(kernel, stride), times);
  }
  void depthwise(const std::string& name, int64_t size, int64_t channels, int64_t kernel, int64_t stride) {
    add(name, "depthwise_conv2d", image(size, channels) + window(kernel, stride), 1);
  }
  void dense(const std::string& name, int64_t m, int64_t n, int64_t k, int times = 1) {
    add(name, "matmul", product(m, n, k) + ",constant=b", times);
  }
  void batch_product(const std::string& name, int64_t batch, int64_t m, int64_t n, int64_t k, int times) {
    add(name, "batch_matmul", "batch=" + std::to_string(batch) + "," + product(m, n, k), times);
  }
  Network take() { return std::move(network_); }

 private:
  static std::string image(int64_t size, int64_t channels) {
    std::string side = std::to_string(size);
    return "in_channels=" + std::to_string(channels) + ",height=" + side + ",width=" + side;
  }
  static std::string window(int64_t kernel, int64_t stride) {
    return ",kernel=" + std::to_string(kernel) + ",stride=" + std::to_string(stride) +
           ",padding=" + std::to_string(kernel / 2);
  }
  static std::string product(int64_t m, int64_t n, int64_t k) {
    return "m=" + std::to_string(m) + ",n=" + std::to_string(n) + ",k=" + std::to_string(k);
  }

  void add(const std::string& name, const char* op, const std::string& shape, int times) {
    auto task = make_task(op, shape);
    FARM_ASSERT(task.has_value(), "the catalogue's ", name, " is wrong: ", task.error().message);
    for (Layer& layer : network_.layers)
      if (layer.task == *task) {
        layer.occurrences += times;
        return;
      }
    network_.layers.push_back({network_.name + "/" + name, *std::move(task), times});
  }

  Network network_;
};

std::string stage_name(int stage) { return "conv" + std::to_string(stage) + "_"; }

Network resnet18() {
  Collector net("resnet18", "ResNet-18, 224x224, batch 1");
  net.conv("conv1", 224, 3, 64, 7, 2);
  net.conv("conv2_x", 56, 64, 64, 3, 1, 4);
  int64_t size = 56, in = 64;
  for (int stage = 3; stage <= 5; ++stage) {
    net.conv(stage_name(stage) + "1", size, in, 2 * in, 3, 2);
    net.conv(stage_name(stage) + "shortcut", size, in, 2 * in, 1, 2);
    size /= 2;
    in *= 2;
    net.conv(stage_name(stage) + "x", size, in, in, 3, 1, 3);
  }
  net.dense("fc", 1, 1000, 512);
  return net.take();
}

Network resnet50() {
  Collector net("resnet50", "ResNet-50 v1.5, 224x224, batch 1");
  net.conv("conv1", 224, 3, 64, 7, 2);
  const int blocks[] = {3, 4, 6, 3};
  int64_t size = 56, in = 64, width = 64;
  for (int stage = 2; stage <= 5; ++stage, width *= 2) {
    std::string name = stage_name(stage);
    int64_t stride = stage == 2 ? 1 : 2;
    int more = blocks[stage - 2] - 1;
    net.conv(name + "1_reduce", size, in, width, 1, 1);
    net.conv(name + "1_3x3", size, width, width, 3, stride);
    net.conv(name + "shortcut", size, in, 4 * width, 1, stride);
    size /= stride;
    in = 4 * width;
    net.conv(name + "expand", size, width, in, 1, 1, more + 1);
    net.conv(name + "reduce", size, in, width, 1, 1, more);
    net.conv(name + "3x3", size, width, width, 3, 1, more);
  }
  net.dense("fc", 1, 1000, 2048);
  return net.take();
}

Network mobilenetv2() {
  Collector net("mobilenetv2", "MobileNetV2 1.0, 224x224, batch 1");
  struct Group {
    int64_t expansion, out, repeats, stride;
  };
  const Group groups[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                          {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
  net.conv("conv1", 224, 3, 32, 3, 2);
  int64_t size = 112, in = 32, block = 1;
  for (const Group& group : groups)
    for (int64_t repeat = 0; repeat < group.repeats; ++repeat, ++block) {
      std::string name = "block" + std::to_string(block) + "_";
      int64_t stride = repeat == 0 ? group.stride : 1, hidden = in * group.expansion;
      if (group.expansion > 1) net.conv(name + "expand", size, in, hidden, 1, 1);
      net.depthwise(name + "depthwise", size, hidden, 3, stride);
      size /= stride;
      net.conv(name + "project", size, hidden, group.out, 1, 1);
      in = group.out;
    }
  net.conv("conv_last", size, in, 1280, 1, 1);
  net.dense("fc", 1, 1000, 1280);
  return net.take();
}

Network bert_base() {
  Collector net("bert-base", "BERT-base, sequence 128, batch 1");
  const int layers = 12;
  net.dense("attention_dense", 128, 768, 768, 4 * layers);  // query, key, value, output
  net.batch_product("attention_scores", 12, 128, 128, 64, layers);
  net.batch_product("attention_context", 12, 128, 64, 128, layers);
  net.dense("intermediate", 128, 3072, 768, layers);
  net.dense("output", 128, 768, 3072, layers);
  net.dense("pooler", 1, 768, 768);
  return net.take();
}

}  // namespace

const std::vector<Network>& catalogue() {
  static const std::vector<Network> networks = {resnet18(), resnet50(), mobilenetv2(), bert_base()};
  return networks;
}

std::vector<std::string> task_names() {
  std::vector<std::string> names = op_names();
  for (const Network& network : catalogue()) names.push_back(network.name);
  return names;
}

static std::optional<Network> find_in_catalogue(std::string_view name) {
  for (const Network& network : catalogue()) {
    if (network.name == name) return network;
    for (const Layer& layer : network.layers)
      if (layer.name == name) return Network{layer.name, network.title, {{layer.name, layer.task, 1}}};
  }
  return std::nullopt;
}

/// Mistyped names are compared with all layers of a network only when a layer was meant.
static std::string suggest(std::string_view name) {
  std::vector<std::string> names = task_names();
  if (name.find('/') != std::string_view::npos)
    for (const Network& network : catalogue())
      for (const Layer& layer : network.layers) names.push_back(layer.name);
  return did_you_mean(name, names);
}

static Result<Network> single(Result<Task> task) {
  if (!task) return std::unexpected(task.error());
  std::string name = task->text();
  return Network{name, name, {{name, *std::move(task), 1}}};
}

Result<Network> resolve_tasks(std::string_view name, std::optional<std::string_view> shape) {
  if (auto found = find_in_catalogue(name)) {
    if (shape)
      return fail(ErrorCode::InvalidArgument, name,
                  " has shapes of its own; leave --shape out or name an operator: ", join(op_names(), ", "));
    return *std::move(found);
  }
  if (name.find('(') != std::string_view::npos && !shape) return single(task_from_text(name));
  if (find_op(name)) return single(shape ? make_task(name, *shape) : default_task(name));
  return fail(ErrorCode::InvalidArgument, "no task is called ", printable(name), suggest(name), "; tasks are ",
              join(task_names(), ", "));
}

// A file of tasks ---------------------------------------------------------------------------------------------------

/// "4 x conv2d(...)" or "conv2d(...)".
static Result<Layer> layer_from_line(std::string_view line) {
  int64_t times = 1;
  size_t cross = line.find(" x ");
  if (cross != std::string_view::npos) {
    auto count = parse_int(trim(line.substr(0, cross)));
    if (!count || *count < 1 || *count > 1'000'000)
      return fail(ErrorCode::InvalidArgument, "\"", printable(trim(line.substr(0, cross))),
                  "\" is no count; a line reads like 4 x matmul(m=64,n=64,k=64)");
    times = *count;
    line = line.substr(cross + 3);
  }
  FARM_TRY(Task task, task_from_text(line));
  std::string text = task.text();
  return Layer{std::move(text), std::move(task), int(times)};
}

Result<Network> network_from_lines(std::string name, std::string_view text) {
  Network network{name, name, {}};
  int number = 0;
  for (const std::string& whole : split(text, '\n')) {
    ++number;
    std::string_view line = trim(std::string_view(whole).substr(0, whole.find('#')));
    if (line.empty()) continue;
    auto layer = layer_from_line(line);
    if (!layer) return fail(layer.error().code, name, ":", number, ": ", layer.error().message);
    auto same = std::find_if(network.layers.begin(), network.layers.end(),
                             [&](const Layer& other) { return other.task == layer->task; });
    if (same == network.layers.end())
      network.layers.push_back(*std::move(layer));
    else
      same->occurrences += layer->occurrences;
  }
  if (network.layers.empty())
    return fail(ErrorCode::InvalidArgument, name, " holds no task; a line reads like 4 x matmul(m=64,n=64,k=64)");
  return network;
}

}  // namespace farm
