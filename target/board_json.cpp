#include "target/board_json.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace farm {
namespace {

using Json = nlohmann::json;

void read(const Json& json, Cluster& cluster);
void read(const Json& json, BoardGpu& gpu);
void read(const Json& json, BoardAccelerator& accelerator);
void read(const Json& json, BoardFabric& fabric);
void read(const Json& json, BoardSource& source);

template <class T>
void read(const Json& json, T& value) {
  if (std::is_integral_v<T> && json.is_number_float())
    throw std::runtime_error(json.dump() + " where a whole number is wanted");
  value = json.get<T>();
}
template <class T>
void read(const Json& json, std::optional<T>& value) {
  read(json, value.emplace());
}
template <class T>
void read(const Json& json, std::vector<T>& values) {
  for (const Json& element : json) read(element, values.emplace_back());
}

/// The fields of one object. Each must be there, and no other.
class Fields {
 public:
  explicit Fields(const Json& json) : json_(json) {}
  template <class T>
  Fields& take(const char* name, T& value) {
    ++taken_;
    const Json& field = json_.at(name);
    if (!field.is_null()) read(field, value);
    return *this;
  }
  void end() const {
    if (taken_ != json_.size()) throw std::runtime_error("an unknown field in " + json_.dump());
  }

 private:
  const Json& json_;
  size_t taken_ = 0;
};

void read(const Json& json, Cluster& cluster) {
  Fields(json)
      .take("name", cluster.name)
      .take("cpu", cluster.cpu)
      .take("cores", cluster.cores)
      .take("clock_ghz", cluster.clock_ghz)
      .take("l1_bytes", cluster.l1_bytes)
      .take("l2_bytes", cluster.l2_bytes)
      .take("l2_shared", cluster.l2_shared)
      .take("vector_bits", cluster.vector_bits)
      .take("flops_per_cycle", cluster.flops_per_cycle)
      .end();
}

void read(const Json& json, BoardGpu& gpu) {
  Fields(json)
      .take("model", gpu.model)
      .take("isa", gpu.isa)
      .take("compute_units", gpu.compute_units)
      .take("clock_ghz", gpu.clock_ghz)
      .take("fp32_tflops", gpu.fp32_tflops)
      .take("fp16_tflops", gpu.fp16_tflops)
      .take("memory_bytes", gpu.memory_bytes)
      .take("bandwidth_gb_s", gpu.bandwidth_gb_s)
      .take("l2_bytes", gpu.l2_bytes)
      .take("shared_bytes_per_block", gpu.shared_bytes_per_block)
      .take("shared_bytes_per_unit", gpu.shared_bytes_per_unit)
      .take("registers_per_unit", gpu.registers_per_unit)
      .take("warp_width", gpu.warp_width)
      .end();
}

void read(const Json& json, BoardAccelerator& accelerator) {
  Fields(json)
      .take("name", accelerator.name)
      .take("title", accelerator.title)
      .take("clock_ghz", accelerator.clock_ghz)
      .take("int8_gops", accelerator.int8_gops)
      .end();
}

void read(const Json& json, BoardFabric& fabric) {
  Fields(json)
      .take("device", fabric.device)
      .take("luts", fabric.luts)
      .take("flip_flops", fabric.flip_flops)
      .take("block_ram_bytes", fabric.block_ram_bytes)
      .take("dsp_slices", fabric.dsp_slices)
      .end();
}

void read(const Json& json, BoardSource& source) {
  Fields(json).take("fact", source.fact).take("source", source.source).end();
}

Board read_board(const Json& json) {
  Board board;
  Fields(json)
      .take("name", board.name)
      .take("title", board.title)
      .take("isa", board.isa)
      .take("clusters", board.clusters)
      .take("l3_bytes", board.l3_bytes)
      .take("memory_bytes", board.memory_bytes)
      .take("bandwidth_gb_s", board.bandwidth_gb_s)
      .take("gpu", board.gpu)
      .take("accelerators", board.accelerators)
      .take("fabric", board.fabric)
      .take("sources", board.sources)
      .end();
  return board;
}

}  // namespace

Result<Board> board_from_json(std::string_view text) {
  try {
    return read_board(Json::parse(text));
  } catch (const std::exception& error) {
    return fail(ErrorCode::Corrupt, "no board: ", error.what());
  }
}

}  // namespace farm
