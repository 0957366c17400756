#include "apps/known_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/text.h"
#include "target/target.h"

namespace farm {
namespace {

using Json = nlohmann::ordered_json;

// What is shown ---------------------------------------------------------------------------------------------------

Result<std::span<const Board>> choose(const std::string& name) {
  auto boards = known_boards();
  if (name.empty()) return boards;
  if (const Board* board = find_board(name)) return std::span(board, 1);
  std::vector<std::string> names;
  for (const Board& board : boards) names.push_back(board.name);
  return fail(ErrorCode::InvalidArgument, "no device is known as ", printable(name), did_you_mean(name, names),
              "; known are ", join(names, ", "));
}

/// float32 of its processors, for a card of its GPU; with the bandwidth of the memory that these have.
struct Roofline {
  double gflops = 0, bandwidth_gb_s = 0;
  double balance() const { return bandwidth_gb_s > 0 ? gflops / bandwidth_gb_s : 0; }
};
Roofline roofline(const Board& board) {
  if (board.clusters.empty() && board.gpu) return {1e3 * board.gpu->fp32_tflops, board.gpu->bandwidth_gb_s};
  return {board.peak_gflops(), board.bandwidth_gb_s};
}

// For people ------------------------------------------------------------------------------------------------------

/// "-" for what is not known.
std::string number(double value, const char* unit = "") {
  if (value == 0) return "-";
  return value < 1000 ? fmt::format("{:.4g}{}", value, unit) : fmt::format("{:.0f}{}", value, unit);
}
std::string size(int64_t bytes) {
  if (bytes == 0) return "-";
  int shift = bytes % (1 << 30) == 0 ? 30 : bytes % (1 << 20) == 0 ? 20 : 10;
  return fmt::format("{} {}", bytes >> shift, shift == 30 ? "GiB" : shift == 20 ? "MiB" : "KiB");
}
std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

using Line = std::vector<std::string>;

/// Aligned columns, the last one as it is; `indent` before each line.
std::string align(const std::vector<Line>& lines, const std::string& indent) {
  std::vector<size_t> widths(lines.front().size());
  for (const Line& line : lines)
    for (size_t column = 0; column + 1 < line.size(); ++column)
      widths[column] = std::max(widths[column], line[column].size());
  std::string text;
  for (const Line& line : lines) {
    text += indent;
    for (size_t column = 0; column + 1 < line.size(); ++column)
      text += fmt::format("{:<{}}  ", line[column], widths[column]);
    text += line.back() + "\n";
  }
  return text;
}

std::string cores_of(const Board& board) {
  std::vector<std::string> clusters;
  for (const Cluster& cluster : board.clusters) clusters.push_back(fmt::format("{}x {}", cluster.cores, cluster.cpu));
  return or_dash(join(clusters, " + "));
}

std::string list(std::span<const Board> boards) {
  std::vector<Line> lines = {{"device", "isa", "cores", "GFLOP/s", "GB/s", "flops/byte", "what it is"}};
  for (const Board& board : boards) {
    Roofline roof = roofline(board);
    lines.push_back({board.name, or_dash(board.isa), cores_of(board), number(roof.gflops), number(roof.bandwidth_gb_s),
                     number(roof.balance()), board.title});
  }
  return align(lines, "");
}

std::string describe_clusters(const Board& board) {
  if (board.clusters.empty()) return "";
  std::vector<Line> lines = {{"cluster", "cores", "clock", "l1", "l2", "vectors", "flops/cycle", "GFLOP/s"}};
  for (const Cluster& cluster : board.clusters)
    lines.push_back({cluster.name, fmt::format("{}x {}", cluster.cores, cluster.cpu), number(cluster.clock_ghz, " GHz"),
                     size(cluster.l1_bytes), size(cluster.l2_bytes) + (cluster.l2_shared ? " shared" : ""),
                     cluster.vector_bits == 32 ? "none" : fmt::format("{} bits", cluster.vector_bits),
                     number(cluster.flops_per_cycle), number(cluster.peak_gflops())});
  return align(lines, "  ");
}

std::string describe_gpu(const BoardGpu& gpu) {
  std::vector<Line> lines = {{"gpu", gpu.model + (gpu.isa.empty() ? "" : " (" + gpu.isa + ")")},
                             {"  units", number(gpu.compute_units)},
                             {"  clock", number(gpu.clock_ghz, " GHz")},
                             {"  float32", number(gpu.fp32_tflops, " TFLOP/s")},
                             {"  float16", number(gpu.fp16_tflops, " TFLOP/s")},
                             {"  memory", gpu.memory_bytes ? size(gpu.memory_bytes) : "the board's"},
                             {"  bandwidth", gpu.memory_bytes ? number(gpu.bandwidth_gb_s, " GB/s") : "the board's"},
                             {"  l2", size(gpu.l2_bytes)},
                             {"  shared memory", size(gpu.shared_bytes_per_block) + " a block, " +
                                                     size(gpu.shared_bytes_per_unit) + " a unit"},
                             {"  registers", number(gpu.registers_per_unit, " a unit")},
                             {"  warp", number(gpu.warp_width)}};
  std::erase_if(lines, [](const Line& line) { return line[1].starts_with("-"); });
  return align(lines, "  ");
}

std::string describe_fabric(const BoardFabric& fabric) {
  return fmt::format("  fabric {}: {} LUTs, {} flip-flops, {} of block RAM, {} DSP slices\n", fabric.device,
                     fabric.luts, fabric.flip_flops, size(fabric.block_ram_bytes), fabric.dsp_slices);
}

std::string describe(const Board& board) {
  std::string text = board.name + ": " + board.title + "\n";
  if (!board.isa.empty())
    text += fmt::format("  {}, {} of memory at {}, l3 {}\n", board.isa, size(board.memory_bytes),
                        number(board.bandwidth_gb_s, " GB/s"), board.l3_bytes ? size(board.l3_bytes) : "none");
  Roofline roof = roofline(board);
  text += fmt::format("  peak {} of float32, {} flops a byte of memory\n", number(roof.gflops, " GFLOP/s"),
                      number(roof.balance()));
  text += describe_clusters(board);
  if (board.gpu) text += describe_gpu(*board.gpu);
  for (const BoardAccelerator& accelerator : board.accelerators)
    text += fmt::format("  {}: {}{}{}\n", accelerator.name, accelerator.title,
                        accelerator.clock_ghz > 0 ? ", " + number(accelerator.clock_ghz, " GHz") : "",
                        accelerator.int8_gops > 0 ? ", " + number(accelerator.int8_gops, " GOP/s of int8") : "");
  if (board.fabric) text += describe_fabric(*board.fabric);
  text += "  sources\n";
  for (const BoardSource& source : board.sources) text += "    " + source.fact + " [" + source.source + "]\n";
  return text;
}

// For scripts -----------------------------------------------------------------------------------------------------

template <class T>
Json known(const T& value) {
  return value == T{} ? Json() : Json(value);
}

Json to_json(const Cluster& cluster) {
  return {{"name", cluster.name},
          {"cpu", cluster.cpu},
          {"cores", cluster.cores},
          {"clock_ghz", known(cluster.clock_ghz)},
          {"l1_bytes", known(cluster.l1_bytes)},
          {"l2_bytes", known(cluster.l2_bytes)},
          {"l2_shared", cluster.l2_shared},
          {"vector_bits", known(cluster.vector_bits)},
          {"flops_per_cycle", known(cluster.flops_per_cycle)},
          {"peak_gflops", known(cluster.peak_gflops())}};
}
Json to_json(const BoardGpu& gpu) {
  return {{"model", gpu.model},
          {"isa", known(gpu.isa)},
          {"compute_units", known(gpu.compute_units)},
          {"clock_ghz", known(gpu.clock_ghz)},
          {"fp32_tflops", known(gpu.fp32_tflops)},
          {"fp16_tflops", known(gpu.fp16_tflops)},
          {"memory_bytes", known(gpu.memory_bytes)},
          {"bandwidth_gb_s", known(gpu.bandwidth_gb_s)},
          {"l2_bytes", known(gpu.l2_bytes)},
          {"shared_bytes_per_block", known(gpu.shared_bytes_per_block)},
          {"shared_bytes_per_unit", known(gpu.shared_bytes_per_unit)},
          {"registers_per_unit", known(gpu.registers_per_unit)},
          {"warp_width", known(gpu.warp_width)}};
}
Json to_json(const BoardAccelerator& accelerator) {
  return {{"name", accelerator.name},
          {"title", accelerator.title},
          {"clock_ghz", known(accelerator.clock_ghz)},
          {"int8_gops", known(accelerator.int8_gops)}};
}
Json to_json(const BoardFabric& fabric) {
  return {{"device", fabric.device},
          {"luts", fabric.luts},
          {"flip_flops", fabric.flip_flops},
          {"block_ram_bytes", fabric.block_ram_bytes},
          {"dsp_slices", fabric.dsp_slices}};
}
Json to_json(const BoardSource& source) { return {{"fact", source.fact}, {"source", source.source}}; }

template <class T>
Json to_json(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(to_json(value));
  return list;
}
template <class T>
Json to_json(const std::optional<T>& value) {
  return value ? to_json(*value) : Json();
}

Json to_json(const Board& board) {
  Roofline roof = roofline(board);
  return {{"name", board.name},
          {"title", board.title},
          {"isa", known(board.isa)},
          {"clusters", to_json(board.clusters)},
          {"l3_bytes", board.clusters.empty() ? Json() : Json(board.l3_bytes)},
          {"memory_bytes", known(board.memory_bytes)},
          {"bandwidth_gb_s", known(board.bandwidth_gb_s)},
          {"peak_gflops", known(roof.gflops)},
          {"flops_per_byte", known(roof.balance())},
          {"gpu", to_json(board.gpu)},
          {"accelerators", to_json(board.accelerators)},
          {"fabric", to_json(board.fabric)},
          {"sources", to_json(board.sources)}};
}

}  // namespace

Result<std::string> known_devices_table(const std::string& name) {
  FARM_TRY(auto boards, choose(name));
  return name.empty() ? list(boards) : describe(boards.front());
}

Result<std::string> known_devices_json(const std::string& name) {
  FARM_TRY(auto boards, choose(name));
  Json devices = Json::array();
  for (const Board& board : boards) devices.push_back(to_json(board));
  return Json{{"devices", devices}}.dump(1) + "\n";
}

}  // namespace farm
