#include "runtime/vta/isa.h"

#include "base/rng.h"
#include "testing.h"

namespace farm::vta {
namespace {

uint32_t bits(Rng& rng, int width) { return static_cast<uint32_t>(rng.below(uint64_t{1} << width)); }

Instruction random_instruction(Rng& rng) {
  Instruction made{{rng.chance(0.5), rng.chance(0.5), rng.chance(0.5), rng.chance(0.5)}, Finish{}};
  switch (rng.below(5)) {
    case 0:
      made.body = Load{static_cast<Memory>(rng.below(4)),
                       bits(rng, 4),
                       bits(rng, 13),
                       bits(rng, 32),
                       bits(rng, 16),
                       bits(rng, 16),
                       bits(rng, 16),
                       bits(rng, 4),
                       bits(rng, 4),
                       bits(rng, 4),
                       bits(rng, 4)};
      break;
    case 1:
      made.body = Store{bits(rng, 4), bits(rng, 13), bits(rng, 32), bits(rng, 16), bits(rng, 16), bits(rng, 16)};
      break;
    case 2:
      made.body = Gemm{rng.chance(0.5), bits(rng, 13), bits(rng, 14), bits(rng, 14), bits(rng, 14), bits(rng, 11),
                       bits(rng, 11),   bits(rng, 11), bits(rng, 11), bits(rng, 10), bits(rng, 10)};
      break;
    case 3:
      made.body = Alu{static_cast<AluOp>(rng.below(4)),
                      bits(rng, 13),
                      bits(rng, 14),
                      bits(rng, 14),
                      bits(rng, 14),
                      bits(rng, 11),
                      bits(rng, 11),
                      bits(rng, 11),
                      bits(rng, 11),
                      rng.chance(0.5),
                      static_cast<int32_t>(rng.below(1 << 16)) - (1 << 15)};
      break;
    default:
      break;
  }
  return made;
}

}  // namespace

TEST_CASE("every instruction comes back as it was, whatever its fields are") {
  Rng rng(1);
  for (int i = 0; i < 20'000; ++i) {
    Instruction made = random_instruction(rng);
    auto back = decode(encode(made));
    REQUIRE(back);
    CHECK(*back == made);
  }
}

TEST_CASE("a word that decodes is the only one for its instruction") {
  Rng rng(2);
  int decoded = 0;
  for (int i = 0; i < 20'000; ++i) {
    Word word{rng.next(), rng.next()};
    auto instruction = decode(word);
    if (!instruction) continue;
    ++decoded;
    CHECK(encode(*instruction) == word);
  }
  CHECK(decoded > 100);  // or nothing was tried
}

TEST_CASE("unknown opcodes, memories that cannot be loaded and unused bits are refused") {
  CHECK(decode(Word{5, 0}).error().message == "opcode 5 is unknown; opcodes are 0 to 4");
  CHECK_FALSE(decode(Word{uint64_t{4} << 7, 0}));       // a load of output
  CHECK_FALSE(decode(Word{4 | uint64_t{1} << 7, 0}));   // a finish that says more
  CHECK_FALSE(decode(Word{2 | uint64_t{1} << 63, 0}));  // a gemm's last bit
  CHECK(decode(Word{4, 0}).value().body == decltype(Instruction::body){Finish{}});
}

TEST_CASE("uops use all 32 bits") {
  Uop most{2047, 2047, 1023};
  CHECK(encode(most) == 0xffffffff);
  CHECK(decode_uop(0xffffffff) == most);
  CHECK(decode_uop(encode(Uop{3, 5, 7})) == Uop{3, 5, 7});
}

}  // namespace farm::vta
