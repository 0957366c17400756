#include "target/target.h"

#include <algorithm>

#include "target/tables.h"
#include "testing.h"

using namespace farm;

TEST_CASE("a named level has its own vectors and all features of the levels below it") {
  Target v3 = *target_from_name("x86-64-v3");
  CHECK(v3.text() == "x86-64-v3");
  CHECK(v3.vector_bits == 256);
  CHECK(v3.vector_registers == 16);
  CHECK(v3.float_lanes() == 8);
  CHECK(v3.has("fma"));
  CHECK(v3.has("sse4.2"));
  CHECK_FALSE(v3.has("avx512f"));
  Target v4 = *target_from_name("x86-64-v4");
  CHECK(v4.vector_bits == 512);
  CHECK(v4.vector_registers == 32);
  CHECK(features_cover(v4, v3));
  CHECK_FALSE(features_cover(v3, v4));
}

TEST_CASE("a CPU is found by its own name and by the text that records are filed under") {
  Target zen3 = *target_from_name("znver3");
  CHECK(zen3.text() == "x86-64-v3/znver3");
  CHECK(zen3.l2_bytes == 512 << 10);
  CHECK(*target_from_name(zen3.text()) == zen3);
  CHECK(target_from_name("emeraldrapids")->has("amx-int8"));
}

TEST_CASE("an unknown target is answered with the nearest names") {
  auto mistyped = target_from_name("znver33");
  REQUIRE_FALSE(mistyped);
  CHECK(mistyped.error().code == ErrorCode::InvalidArgument);
  CHECK(mistyped.error().message.find("znver33") != std::string::npos);
  CHECK(mistyped.error().message.find("did you mean znver3") != std::string::npos);
}

TEST_CASE("a CPU under the wrong level is refused with the right one") {
  auto wrong = target_from_name("x86-64-v4/znver3");
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().message == "target x86-64-v4/znver3 does not exist; znver3 is x86-64-v3/znver3");
}

TEST_CASE("every name that is offered is taken, and its text leads back to it") {
  for (const auto& name : target_names()) {
    INFO(name);
    auto target = target_from_name(name);
    REQUIRE(target);
    CHECK(*target_from_name(target->text()) == *target);
    CHECK(std::ranges::is_sorted(target->features));
  }
}

TEST_CASE("every row of the tables names rows that exist") {
  for (const auto& cpu : cpu_rows()) CHECK(find_level(cpu.level) != nullptr);
  for (const auto& level : isa_levels()) CHECK((level.below.empty() || find_level(level.below) != nullptr));
}

TEST_CASE("narrowing a CPU takes away its features and its name") {
  Target server = *target_from_name("emeraldrapids");
  server.cores = 7;
  Target narrowed = *narrow(server, "x86-64-v3");
  CHECK(narrowed.text() == "x86-64-v3");
  CHECK(narrowed.vector_bits == 256);
  CHECK_FALSE(narrowed.has("avx512f"));
  CHECK_FALSE(narrowed.has("avxvnni"));
  CHECK(narrowed.cores == 7);
  CHECK(narrowed.l2_bytes == server.l2_bytes);
}

TEST_CASE("a device cannot be narrowed to a level that it lacks or that nobody knows") {
  Target zen3 = *target_from_name("znver3");
  CHECK(narrow(zen3, "x86-64-v4").error().message ==
        "isa x86-64-v4 is beyond this device, which is x86-64-v3/znver3; choose x86-64-v3 or a level below it");
  CHECK(narrow(zen3, "x86-64-v5").error().message.find("unknown isa \"x86-64-v5\"") == 0);
}

TEST_CASE("this machine describes itself consistently") {
  Target host = describe_host();
  CHECK_FALSE(host.isa.empty());
  CHECK(host.cores >= 1);
  CHECK(host.memory_bytes > 0);
  CHECK(host.l1_bytes > 0);
  CHECK(host.peak_gflops_core == 0);
#if defined(__x86_64__)
  auto named = target_from_name(host.text());
  REQUIRE(named);
  CHECK(features_cover(host, *named));
  CHECK(host.vector_bits == named->vector_bits);
#endif
}

TEST_CASE("a level belongs to the family at its bottom") {
  CHECK(isa_family("x86-64-v3") == "x86-64");
  CHECK(isa_family("aarch64-v8.2") == "aarch64");
  CHECK(isa_family("riscv64-v") == "riscv64");
  CHECK(isa_family("vax") == "vax");
}

TEST_CASE("an emulated device is told apart by name") {
  Target real = *target_from_name("cortex-a72"), emulated = real;
  emulated.emulated = true;
  CHECK(emulated.text() == "aarch64/cortex-a72+emulated");
  CHECK(*target_from_name(emulated.text()) == emulated);
  CHECK(*target_from_name("riscv64+emulated") != *target_from_name("riscv64"));
  CHECK_FALSE(target_from_name("+emulated"));
  CHECK((features_cover(real, emulated) && features_cover(emulated, real)));
}

TEST_CASE("levels of one family never run on another") {
  for (const auto* one : {"x86-64-v3", "armv7", "aarch64", "riscv64"})
    for (const auto* other : {"x86-64-v3", "armv7", "aarch64", "riscv64"}) {
      INFO(one << " " << other);
      CHECK((features_cover(*target_from_name(one), *target_from_name(other))) == (std::string(one) == other));
    }
}
