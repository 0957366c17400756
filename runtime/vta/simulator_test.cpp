#include "runtime/vta/simulator.h"

#include <algorithm>

#include "runtime/vta/test_programs.h"
#include "testing.h"

namespace farm::vta {
namespace {

/// A program and its data; operands are as long as the program says.
struct Bench {
  Program program = one_of_everything();
  std::vector<std::vector<std::byte>> read;
  std::vector<std::byte> output;

  explicit Bench(Program made, uint64_t seed = 1) : program(std::move(made)) {
    Rng rng(seed);
    for (int64_t bytes : program.read_bytes) read.push_back(random_bytes(rng, static_cast<size_t>(bytes)));
    output.resize(static_cast<size_t>(program.output_bytes));
  }
  RunReport run(const RunOptions& options = {}) {
    return vta::run(program, {read.begin(), read.end()}, output, options);
  }
};

int8_t at(const std::vector<std::byte>& bytes, size_t i) { return static_cast<int8_t>(bytes[i]); }

/// Accumulators of `values` (16 lanes each), changed by one ALU instruction, stored as int8.
Bench alu_bench(const std::vector<int32_t>& values, Alu alu) {
  Program program;
  program.bitstream = vta_bitstream();
  auto elements = static_cast<uint32_t>(values.size());
  program.read_bytes = {elements * 64};
  program.output_bytes = 16;
  program.uops = {encode(Uop{0, 1, 0})};
  alu.uop_begin = 0, alu.uop_end = 1;
  program.instructions = {
      {{}, Load{.memory = Memory::Uop, .y_size = 1, .x_size = 1, .x_stride = 1}},
      {{}, Load{.memory = Memory::Accumulator, .operand = 0, .y_size = 1, .x_size = elements, .x_stride = elements}},
      {kPushNext, alu},
      {{.pop_prev = true, .push_prev = true}, Store{.operand = 1, .y_size = 1, .x_size = 1, .x_stride = 1}},
      {kPopNext, Finish{}},
  };
  Bench bench(program);
  for (size_t i = 0; i < values.size(); ++i)
    for (size_t lane = 0; lane < 16; ++lane) std::memcpy(&bench.read[0][(i * 16 + lane) * 4], &values[i], 4);
  return bench;
}

int alu_result(const std::vector<int32_t>& values, const Alu& alu) {
  Bench bench = alu_bench(values, alu);
  RunReport report = bench.run();
  INFO(report.detail);
  CHECK(report.outcome == Outcome::Ok);
  return at(bench.output, 9);
}

}  // namespace

TEST_CASE("one of everything computes a product of a matrix and a vector") {
  Bench bench(one_of_everything());
  RunReport report = bench.run({.find_races = true});
  INFO(report.detail);
  REQUIRE(report.outcome == Outcome::Ok);
  for (size_t k = 0; k < 16; ++k) {
    int sum = 0;
    for (size_t c = 0; c < 16; ++c) sum += at(bench.read[0], c) * at(bench.read[1], k * 16 + c);
    CHECK(at(bench.output, k) == static_cast<int8_t>((sum >> 4) & 0xff));
  }
  CHECK(report.multiply_adds == 256);
  CHECK(report.bytes_read == 16 + 256 + 4);
  CHECK(report.bytes_written == 16);
  CHECK(report.instructions == 8);
}

TEST_CASE("the cycles of one of everything are those of its longest chain") {
  // fetch: 64 latency, 2 an instruction. load: 66 + 4+64+2 = 136, then 4+64+32 = 236 for the weights; the compute
  // module's uops come in between (70 + 4+64+1 = 139, behind the inputs on the read channel). The gemm waits for the
  // weights: 236 + 4+1, shift 4+1, store 4+64+2, finish 4.
  Bench bench(one_of_everything());
  CHECK(bench.run().cycles == 236 + 5 + 5 + 70 + 4);
}

TEST_CASE("time alone is the same as time with data") {
  Bench bench(one_of_everything());
  RunReport whole = bench.run();
  RunReport timed = run(bench.program, {}, {}, {.compute = false});
  CHECK(timed.outcome == Outcome::Ok);
  CHECK(timed.cycles == whole.cycles);
  CHECK(timed.busy_cycles == whole.busy_cycles);
}

TEST_CASE("the ALU's operations") {
  auto immediate = [](AluOp op, int32_t value) {
    Alu alu{.op = op, .use_immediate = true, .immediate = value};
    return alu;
  };
  CHECK(alu_result({-300, 0}, immediate(AluOp::ShiftRight, 3)) == -38);  // rounds down
  CHECK(alu_result({300, 0}, immediate(AluOp::Min, 127)) == 127);
  CHECK(alu_result({-300, 0}, immediate(AluOp::Max, -128)) == -128);
  CHECK(alu_result({7, 0}, immediate(AluOp::Add, -9)) == -2);
  CHECK(alu_result({7, 100}, Alu{.op = AluOp::Add}) == 107);
  CHECK(alu_result({7, 100}, Alu{.op = AluOp::Min}) == 7);
  CHECK(alu_result({7, 100}, Alu{.op = AluOp::Max}) == 100);
  CHECK(alu_result({64, 4}, Alu{.op = AluOp::ShiftRight}) == 4);
  CHECK(alu_result({INT32_MAX, 1}, Alu{.op = AluOp::Add}) == 0);  // INT32_MIN, cut to 8 bits
  CHECK(alu_result({259, 0}, immediate(AluOp::Add, 0)) == 3);
}

TEST_CASE("two accumulators take the ALU twice the time of an immediate") {
  auto busy = [](bool use_immediate) {
    Alu alu{.op = AluOp::Add, .iter_out = 10, .iter_in = 20, .use_immediate = use_immediate};
    return alu_bench({0, 0}, alu).run().busy_cycles[1];
  };
  CHECK(busy(false) - busy(true) == 200);
}

TEST_CASE("loads pad with zeros at all four sides") {
  Bench bench(one_of_everything());
  // A picture of 2 x 3 vectors in the middle of 5 x 6; the gemm reads the vector at row 2, column 3.
  bench.program.read_bytes[0] = 6 * 16;
  Rng rng(4);
  bench.read[0] = random_bytes(rng, 6 * 16);
  std::get<Load>(bench.program.instructions[0].body) = {.memory = Memory::Input,
                                                        .y_size = 2,
                                                        .x_size = 3,
                                                        .x_stride = 3,
                                                        .y_pad_top = 1,
                                                        .y_pad_bottom = 2,
                                                        .x_pad_left = 2,
                                                        .x_pad_right = 1};
  for (uint32_t element = 0; element < 30; ++element) {
    bench.program.uops = {encode(Uop{3, element, 7})};
    REQUIRE(bench.run().outcome == Outcome::Ok);
    uint32_t y = element / 6 - 1, x = element % 6 - 2;
    for (size_t k = 0; k < 16; ++k) {
      int sum = 0;
      for (size_t c = 0; c < 16 && y < 2 && x < 3; ++c)
        sum += at(bench.read[0], (y * 3 + x) * 16 + c) * at(bench.read[1], k * 16 + c);
      CHECK(at(bench.output, k) == static_cast<int8_t>((sum >> 4) & 0xff));
    }
  }
}

TEST_CASE("uops that lead outside a memory are out of bounds, and nothing is touched") {
  Bench bench(one_of_everything());
  std::get<Gemm>(bench.program.instructions[4].body).iter_in = 300;
  std::get<Gemm>(bench.program.instructions[4].body).accumulator_in = 7;
  RunReport report = bench.run();
  CHECK(report.outcome == Outcome::OutOfBounds);
  CHECK(report.detail == "compute's instruction 2 (gemm): element 2096 of the accumulator memory, which has 2048");
}

TEST_CASE("modules that wait for each other are named") {
  Bench bench(one_of_everything());
  bench.program.instructions[0].tokens.pop_next = true;
  RunReport report = bench.run();
  CHECK(report.outcome == Outcome::Timeout);
  CHECK(report.detail ==
        "deadlock: load's instruction 0 (load of input) waits for a token of compute, "
        "compute's instruction 2 (gemm) waits for a token of load, "
        "store's instruction 0 (store) waits for a token of compute");
}

TEST_CASE("a full queue in front of a module holds up the others") {
  Program program = one_of_everything();
  // 600 loads that wait for a token which only an instruction behind them can give.
  Instruction waiting = program.instructions[0];
  waiting.tokens.pop_next = true;
  program.instructions.insert(program.instructions.begin(), 600, waiting);
  Bench bench(program);
  RunReport report = bench.run();
  CHECK(report.outcome == Outcome::Timeout);
  CHECK(report.detail.find("waits behind a full queue") != std::string::npos);
}

TEST_CASE("a program that is too long ends at the limit") {
  Bench bench(one_of_everything());
  RunReport report = bench.run({.most_cycles = 100});
  CHECK(report.outcome == Outcome::Timeout);
  CHECK(report.detail == "load's instruction 0 (load of input) would end in cycle 136; the limit is 100");
}

TEST_CASE("tokens that are left and a finish that is early are faults") {
  Bench bench(one_of_everything());
  bench.program.instructions[5].tokens.push_prev = true;
  RunReport report = bench.run();
  CHECK(report.outcome == Outcome::LaunchFailed);
  CHECK(report.detail == "1 tokens of compute for load are left; the next run would start wrong");
  Bench early(one_of_everything());
  early.program.instructions[6].tokens.push_prev = false;
  early.program.instructions[7].tokens.pop_next = false;
  report = early.run();
  CHECK(report.outcome == Outcome::WrongResult);
  CHECK(report.detail.find("while store still works; it must wait for its token") != std::string::npos);
}

TEST_CASE("a missing token is a race, even where the times hide it") {
  Bench bench(one_of_everything());
  bench.program.instructions[1].tokens.push_next = false;  // the weights are loaded: nobody is told
  bench.program.instructions[4].tokens.pop_prev = false;
  RunReport report = bench.run({.find_races = true});
  CHECK(report.outcome == Outcome::WrongResult);
  CHECK(report.detail ==
        "race: compute reads element 5 of the input memory (its instruction 2), which load may still write (its "
        "instruction 0)");
  // The same with a compute module that dawdles: the result is right by luck, and it is a race still.
  Instruction slow = bench.program.instructions[3];
  std::get<Gemm>(slow.body).iter_out = 2000;
  bench.program.instructions.insert(bench.program.instructions.begin() + 3, slow);
  CHECK(bench.run().outcome == Outcome::Ok);
  CHECK(bench.run({.find_races = true}).outcome == Outcome::WrongResult);
}

TEST_CASE("writing what another module still reads is a race too") {
  Bench bench(one_of_everything());
  bench.program.instructions.insert(bench.program.instructions.end() - 1, bench.program.instructions[0]);
  bench.program.instructions.back().tokens.pop_prev = true;
  bench.program.instructions[bench.program.instructions.size() - 2].tokens = kPushNext;
  CHECK(bench.run().outcome == Outcome::Ok);
  RunReport report = bench.run({.find_races = true});
  CHECK(report.outcome == Outcome::WrongResult);
  CHECK(report.detail.find("of the input memory") != std::string::npos);
}

TEST_CASE("loads of different modules share the read channel, stores have their own") {
  // 64 KiB of weights and 32 KiB of uops at the same time: the sum of both, not the longer one.
  Program program;
  program.bitstream = vta_bitstream();
  program.read_bytes = {64 << 10};
  program.output_bytes = 0;
  program.uops.resize(8192);
  program.instructions = {
      {kPushNext, Load{.memory = Memory::Weight, .operand = 0, .y_size = 1, .x_size = 256, .x_stride = 256}},
      {{}, Load{.memory = Memory::Uop, .y_size = 1, .x_size = 8192, .x_stride = 8192}},
      {kPopPrev, Finish{}},
  };
  RunReport report = Bench(program).run();
  REQUIRE(report.outcome == Outcome::Ok);
  CHECK(report.cycles == 66 + 4 + 64 + (64 << 10) / 8 + (32 << 10) / 8 + 4);
}

namespace {

uint32_t small(Rng& rng, uint64_t bound) { return static_cast<uint32_t>(rng.below(bound)); }

/// Mostly within bounds, so that the run gets far.
Instruction any_instruction(Rng& rng) {
  Instruction made{{}, Finish{}};
  switch (rng.below(6)) {
    case 0:
    case 1:
      made.body = Load{static_cast<Memory>(rng.below(4)),
                       0,
                       small(rng, 900),
                       small(rng, 8),
                       small(rng, 4),
                       small(rng, 4),
                       small(rng, 6),
                       small(rng, 3),
                       small(rng, 3),
                       small(rng, 3),
                       small(rng, 3)};
      break;
    case 2:
      made.body = Store{1, small(rng, 2000), small(rng, 64), small(rng, 4), small(rng, 4), small(rng, 9)};
      break;
    case 3:
      made.body = Gemm{rng.chance(0.2),   small(rng, 8),   8 + small(rng, 8), 1 + small(rng, 4),
                       1 + small(rng, 4), small(rng, 200), small(rng, 200),   small(rng, 200),
                       small(rng, 200),   small(rng, 100), small(rng, 100)};
      break;
    default:
      made.body = Alu{static_cast<AluOp>(rng.below(4)),
                      small(rng, 8),
                      8 + small(rng, 8),
                      1 + small(rng, 4),
                      1 + small(rng, 4),
                      small(rng, 200),
                      small(rng, 200),
                      small(rng, 200),
                      small(rng, 200),
                      rng.chance(0.5),
                      static_cast<int32_t>(rng.below(1 << 16)) - (1 << 15)};
      break;
  }
  Engine engine = engine_of(made);
  if (engine != Engine::Load) made.tokens.pop_prev = rng.chance(0.1), made.tokens.push_prev = rng.chance(0.2);
  if (engine != Engine::Store) made.tokens.pop_next = rng.chance(0.1), made.tokens.push_next = rng.chance(0.2);
  return made;
}

Program any_program(Rng& rng) {
  Program program;
  program.bitstream = vta_bitstream();
  program.read_bytes = {int64_t{16} << rng.below(11)};
  program.output_bytes = int64_t{16} << rng.below(9);
  for (uint64_t i = rng.below(64); i > 0; --i)
    program.uops.push_back(encode(Uop{small(rng, 1500), small(rng, 1500), small(rng, 800)}));
  for (uint64_t i = rng.below(40); i > 0; --i) program.instructions.push_back(any_instruction(rng));
  program.instructions.push_back({{.pop_prev = rng.chance(0.2), .pop_next = rng.chance(0.2)}, Finish{}});
  return program;
}

}  // namespace

TEST_CASE("random programs end in some outcome with a reason, the same each time") {
  Rng rng(5);
  std::array<int, 8> outcomes{};
  for (int i = 0; i < 3000; ++i) {
    Bench bench(any_program(rng), rng.next());
    REQUIRE(decode_program(encode(bench.program)).value() == bench.program);
    RunOptions options{.find_races = i % 2 == 0, .most_cycles = 20'000};
    RunReport report = bench.run(options), again = bench.run(options);
    CHECK((report.outcome == Outcome::Ok) == report.detail.empty());
    CHECK(report.detail == again.detail);
    CHECK(report.cycles == again.cycles);
    ++outcomes[static_cast<size_t>(report.outcome)];
  }
  for (Outcome seen : {Outcome::LaunchFailed, Outcome::OutOfBounds, Outcome::Timeout, Outcome::WrongResult})
    CHECK(outcomes[static_cast<size_t>(seen)] > 20);
}

TEST_CASE("random bytes behind a right beginning are no program, or one that ends", "[slow]") {
  Rng rng(6);
  auto good = encode(one_of_everything());
  for (int i = 0; i < 200'000; ++i) {
    auto blob = good;
    for (uint64_t left = 1 + rng.below(6); left > 0; --left) blob[rng.below(blob.size())] = std::byte(rng.below(256));
    auto program = decode_program(blob);
    if (!program) continue;
    if (program->read_bytes.size() != 2 || program->read_bytes[0] > 1 << 16 || program->read_bytes[1] > 1 << 16 ||
        program->output_bytes > 1 << 16)
      continue;
    Bench bench(*program);
    RunReport report = bench.run({.most_cycles = 50'000});
    CHECK((report.outcome == Outcome::Ok) == report.detail.empty());
  }
}

}  // namespace farm::vta
