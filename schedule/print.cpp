// The printed form of a loop nest. Equal text means equal code: primitives give every new variable and buffer a name of its own.
#include "schedule/loop_nest.h"

namespace farm {
namespace {

class Printer {
 public:
  std::string text;

  void stmt(const Stmt& s, int depth) {
    std::visit([&](const auto& node) { print(node, depth); }, s->node);
  }

 private:
  void line(int depth, const std::string& words) { text += std::string(2 * depth, ' ') + words + "\n"; }

  void print(const For& node, int depth) {
    constexpr const char* kKinds[] = {"for", "parallel", "vectorized", "unrolled", "bind"};
    line(depth, std::string(kKinds[static_cast<int>(node.kind)]) + " " + node.var->name + " in 0.." +
                    to_string(node.extent) + (node.thread.empty() ? "" : " to " + node.thread));
    stmt(node.body, depth + 1);
  }
  void print(const Block& node, int depth) {
    line(depth, "block " + node.name);
    for (const auto& iter : node.iters)
      line(depth + 1, (iter.kind == IterKind::Reduce ? "reduce " : "axis ") + iter.var->name + " < " +
                          std::to_string(iter.extent) + " = " + to_string(iter.binding));
    if (node.predicate) line(depth + 1, "where " + to_string(node.predicate));
    for (const auto& region : node.reads) line(depth + 1, "reads " + describe(region));
    for (const auto& region : node.writes) line(depth + 1, "writes " + describe(region));
    if (node.init) {
      line(depth + 1, "init");
      stmt(node.init, depth + 2);
    }
    stmt(node.body, depth + 1);
  }
  void print(const Seq& node, int depth) {
    for (const auto& s : node.stmts) stmt(s, depth);
  }
  void print(const Store& node, int depth) {
    std::string words = node.buffer->name + "[";
    for (size_t i = 0; i < node.indices.size(); ++i) words += (i ? ", " : "") + to_string(node.indices[i]);
    words += "] = " + to_string(node.value);
    if (node.mask) words += " if " + to_string(node.mask);
    line(depth, words);
  }
  void print(const If& node, int depth) {
    line(depth, "if " + to_string(node.condition));
    stmt(node.then, depth + 1);
    if (!node.otherwise) return;
    line(depth, "else");
    stmt(node.otherwise, depth + 1);
  }
  void print(const Allocate& node, int depth) {
    constexpr const char* kScopes[] = {"global", "workspace", "thread", "register"};
    line(depth, "allocate " + std::string(kScopes[static_cast<int>(node.buffer->scope)]) + " " + node.buffer->name +
                    ": " + to_string(TensorType{node.buffer->dtype, node.buffer->shape}));
    stmt(node.body, depth);
  }
  void print(const Evaluate& node, int depth) { line(depth, to_string(node.call)); }

  static std::string describe(const Region& region) {
    std::string words = region.buffer->name + "[";
    for (size_t i = 0; i < region.min.size(); ++i)
      words += (i ? ", " : "") + to_string(region.min[i]) + " +" + std::to_string(region.extent[i]);
    return words + "]";
  }
};

}  // namespace

std::string to_string(const Stmt& stmt) {
  Printer printer;
  printer.stmt(stmt, 0);
  return printer.text;
}

static std::string buffer_list(const std::vector<Buffer>& buffers) {
  std::string text;
  for (const auto& buffer : buffers)
    text += (text.empty() ? "" : ", ") + buffer->name + ": " + to_string(TensorType{buffer->dtype, buffer->shape});
  return text;
}

std::string to_string(const Module& module) {
  std::string text;
  for (const auto& function : module.functions) {
    text += (function.role == FunctionRole::Run ? "run " : "prepack ") + function.name + "(" +
            buffer_list(function.params) + ")";
    if (!function.workspace.empty()) text += " workspace(" + buffer_list(function.workspace) + ")";
    if (!function.locals.empty()) text += " locals(" + buffer_list(function.locals) + ")";
    text += "\n";
    if (function.body) {
      Printer printer;
      printer.stmt(function.body, 1);
      text += printer.text;
    }
  }
  return text;
}

}  // namespace farm
