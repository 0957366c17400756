#include "runtime/vta/program.h"

#include "runtime/vta/test_programs.h"
#include "testing.h"

namespace farm::vta {
namespace {

Program with_packing() {
  Program program = one_of_everything();
  program.packings = {{{3, 5}, 0, {{1, 0, 16}, {1, 1, 16}, {16, 0, 1}, {16, 1, 1}}}};
  return program;
}

std::string fault_of(const Program& program) {
  auto fault = find_fault(program);
  return fault ? to_string(fault->outcome) + ": " + fault->detail : "none";
}

template <class Body>
Body& body_at(Program& program, size_t i) {
  return std::get<Body>(program.instructions[i].body);
}

}  // namespace

TEST_CASE("a program survives its blob") {
  Program program = with_packing();
  CHECK(decode_program(encode(program)).value() == program);
}

TEST_CASE("a blob cut anywhere, or with a byte too many, is refused") {
  auto blob = encode(with_packing());
  for (size_t length = 0; length < blob.size(); ++length) CHECK_FALSE(decode_program(std::span(blob).first(length)));
  blob.push_back(std::byte{0});
  CHECK_FALSE(decode_program(blob));
}

TEST_CASE("a program with any one bit turned over is refused, runs or fails, and never does harm") {
  Rng rng(3);
  auto input = random_bytes(rng, 16), weight = random_bytes(rng, 256);
  std::vector<std::byte> out(16), blob = encode(one_of_everything());
  int refused = 0, ran = 0;
  for (size_t bit = 0; bit < blob.size() * 8; ++bit) {
    auto broken = blob;
    broken[bit / 8] ^= std::byte(1 << bit % 8);
    auto program = decode_program(broken);
    if (!program) {
      ++refused;
      continue;
    }
    RunReport report = run(*program, {input, weight}, out, {.find_races = true, .most_cycles = 100'000});
    CHECK((report.outcome == Outcome::Ok) == report.detail.empty());
    ran += report.outcome == Outcome::Ok;
  }
  CHECK(refused > 100);
  CHECK(ran > 10);
}

TEST_CASE("another version and another bitstream are named") {
  auto blob = encode(one_of_everything());
  blob[4] = std::byte{9};
  CHECK(decode_program(blob).error().message == "the program is of version 9; this device reads version 1");
  Program foreign = one_of_everything();
  foreign.bitstream = hash_text("another");
  CHECK(fault_of(foreign).starts_with("launch_failed: the program was made for bitstream "));
}

TEST_CASE("addresses beyond a memory or an operand are told before anything runs") {
  CHECK(fault_of(one_of_everything()) == "none");
  Program program = one_of_everything();
  body_at<Load>(program, 0).sram = 2048;
  CHECK(fault_of(program) ==
        "out_of_bounds: instruction 0 (load of input): elements 2048 to 2049 of the input memory, which has 2048");
  program = one_of_everything();
  body_at<Load>(program, 1).dram = 1;
  CHECK(fault_of(program) == "out_of_bounds: instruction 1 (load of weight): byte 512 of operand 1, which has 256");
  program = one_of_everything();
  body_at<Load>(program, 2).x_size = 2;
  CHECK(fault_of(program) ==
        "out_of_bounds: instruction 2 (load of uop): byte 8 of uops of the program 0, which has 4");
  program = one_of_everything();
  body_at<Store>(program, 6).y_size = 2;
  CHECK(fault_of(program) == "out_of_bounds: instruction 6 (store): byte 32 of operand 2, which has 16");
  program = one_of_everything();
  body_at<Gemm>(program, 4).uop_end = 9000;
  CHECK(fault_of(program) == "out_of_bounds: instruction 4 (gemm): uop 9000 of the uop memory, which has 8192");
}

TEST_CASE("operands are read or written, never both") {
  Program program = one_of_everything();
  body_at<Load>(program, 0).operand = 2;
  CHECK(fault_of(program) == "launch_failed: instruction 0 (load of input): operand 2 cannot be read: there are 2");
  program = one_of_everything();
  body_at<Store>(program, 6).operand = 1;
  CHECK(fault_of(program) ==
        "launch_failed: instruction 6 (store): operand 1 cannot be written: the output is operand 2");
}

TEST_CASE("a program ends with its one finish, and modules have tokens for neighbours only") {
  Program program = one_of_everything();
  program.instructions.pop_back();
  CHECK(fault_of(program) == "launch_failed: the program does not end with a finish");
  program = one_of_everything();
  program.instructions[2].body = Finish{};
  CHECK(fault_of(program) == "launch_failed: instruction 2 is a finish, yet there are more behind it");
  program = one_of_everything();
  program.instructions[0].tokens.pop_prev = true;
  CHECK(fault_of(program) == "launch_failed: instruction 0 (load of input): no module comes before load");
  program = one_of_everything();
  program.instructions[6].tokens.push_next = true;
  CHECK(fault_of(program) == "launch_failed: instruction 6 (store): no module comes behind store");
  program = one_of_everything();
  body_at<Gemm>(program, 4).iter_in = 0;
  CHECK(fault_of(program) == "launch_failed: instruction 4 (gemm): it repeats nothing: uops 0 to 1, 1 by 0 times");
}

TEST_CASE("packing puts constants into blocks and fills these up with zeros") {
  Program program = with_packing();
  std::vector<std::byte> source(15);
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i + 1);
  auto packed = pack(program, 256, {source});
  REQUIRE(packed);
  for (size_t k = 0; k < 16; ++k)
    for (size_t c = 0; c < 16; ++c) CHECK((*packed)[k * 16 + c] == (k < 3 && c < 5 ? source[k * 5 + c] : std::byte{0}));
}

TEST_CASE("a packing that does not fit its operands is a fault") {
  Program program = with_packing();
  std::vector<std::byte> source(15), longer(16);
  CHECK(pack(program, 255, {source}).error().detail == "packed constant 0 ends at byte 256 of 255");
  CHECK(pack(program, 256, {longer}).error().detail == "the program packs a constant of 15 bytes where it has 16");
  CHECK(pack(program, 256, {}).error().detail == "the program packs 1 constants where there are 0");
}

}  // namespace farm::vta
