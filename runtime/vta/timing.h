// What the model of time is made of. Cycles are those of the programmable logic.
//
// The defaults are those of a PYNQ-Z1 (Zynq-7020) with the TVM paper's design: logic at 100 MHz, joined to DRAM by one
// 64-bit AXI port, whose reads and writes have channels of their own. Published latencies of such ports, DRAM and
// interconnect included, lie between 40 and 80 cycles.
//
// What the model leaves out: refresh and row misses of the DRAM, other traffic of the processor, stalls of GEMM on an
// accumulator that is still in its pipeline (code generators repeat over pixels, which keeps equal ones apart), and the
// traffic of instruction fetch, which has a port of its own.
#pragma once
#include <cstdint>

namespace farm::vta {

struct Timing {
  double clock_mhz = 100;
  int64_t dram_bytes_per_cycle =
      8;  ///< of the read channel, which loads share in order of their starts; as many of writes
  int64_t dram_latency_cycles = 64;  ///< from a request to its first byte; rows of one instruction overlap it
  int64_t issue_cycles = 4;          ///< of any instruction: decoding, filling and draining the pipeline
  int64_t gemm_cycles = 1;           ///< a uop: reading a weight block and an input, and 256 multiply-adds
  int64_t alu_immediate_cycles = 1;  ///< an element: the accumulator memory has one read port,
  int64_t alu_cycles = 2;            ///< so a second operand takes a second cycle
  int64_t padding_cycles = 1;        ///< an element of zeros
  int64_t fetch_cycles = 2;          ///< an instruction: 16 bytes
  int64_t queue_instructions = 512;  ///< that wait in front of a module before fetch stops
};

}  // namespace farm::vta
