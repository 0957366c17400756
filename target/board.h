// What is known of boards, phones and cards without meeting them: target/devices has one JSON file each, with sources,
// compiled into the programs that ask. A device that is met describes itself (`describe_host`), and that counts.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace farm {

struct Target;

// In all of these a number that is 0 and a text that is empty are unknown, or there is no such thing.

/// Cores of one kind. A board whose cores are all alike has one cluster, "big".
struct Cluster {
  std::string name;  ///< "big", "mid" or "little"
  std::string cpu;   ///< LLVM's name, which target_from_name takes: "cortex-a72"
  int cores = 0;
  double clock_ghz = 0;                ///< the highest one
  int64_t l1_bytes = 0, l2_bytes = 0;  ///< data caches, as one core sees them
  bool l2_shared = false;              ///< the cores of this cluster share one l2
  int vector_bits = 0;                 ///< of a register; 32 where there are no vectors
  double flops_per_cycle = 0;          ///< float32, of a core; a fused multiply-add counts as two

  double peak_gflops() const { return cores * clock_ghz * flops_per_cycle; }
};

struct BoardGpu {
  std::string model;  ///< "Mali-T860 MP4"
  std::string isa;    ///< "sm_80"; empty where no compiler's name is needed
  int compute_units = 0;
  double clock_ghz = 0;
  double fp32_tflops = 0, fp16_tflops = 0;  ///< of its fastest units, dense
  int64_t memory_bytes = 0;                 ///< of its own, else it shares the board's
  double bandwidth_gb_s = 0;                ///< of that memory
  int64_t l2_bytes = 0;
  int64_t shared_bytes_per_block = 0, shared_bytes_per_unit = 0;
  int registers_per_unit = 0;  ///< of 32 bits
  int warp_width = 0;
};

/// What is neither CPU nor GPU.
struct BoardAccelerator {
  std::string name, title;
  double clock_ghz = 0;
  double int8_gops = 0;  ///< dense; a multiply-add counts as two
};

/// Programmable logic, which an accelerator's bitstream must fit into.
struct BoardFabric {
  std::string device;  ///< "XC7Z020"
  int luts = 0, flip_flops = 0;
  int64_t block_ram_bytes = 0;
  int dsp_slices = 0;
};

struct BoardSource {
  std::string fact;    ///< what is taken from there
  std::string source;  ///< an address, or a document's title
};

struct Board {
  std::string name;               ///< as in --emulate: "rk3399"
  std::string title;              ///< what the maker calls it
  std::string isa;                ///< ISA level of all of its cores; empty for a card, which has none
  std::vector<Cluster> clusters;  ///< fastest cores first
  int64_t l3_bytes = 0;
  int64_t memory_bytes = 0;   ///< the most that it is sold with
  double bandwidth_gb_s = 0;  ///< of that memory, in theory, in units of 10^9 bytes
  std::optional<BoardGpu> gpu;
  std::vector<BoardAccelerator> accelerators;
  std::optional<BoardFabric> fabric;
  std::vector<BoardSource> sources;

  /// float32, of all cores at once.
  double peak_gflops() const;
};

/// All, by name. Not in a board's own program (FARM_BOARD): that one has board_kinds.
std::span<const Board> known_boards();
/// Null when there is none.
const Board* find_board(std::string_view name);

/// What is known of a board without its file.
struct BoardKind {
  std::string_view name;
  std::string_view isa;  ///< as Board::isa
};
/// Those of known_boards, in every program.
std::span<const BoardKind> board_kinds();

/// A key is a queue's label, a kind is described hardware: a CPU may not stand in a queue that is called like a known
/// board of another family of ISAs. `what` the key is, "--key", starts the message.
Status check_key_kind(std::string_view what, std::string_view key, const Target& target);

}  // namespace farm
