// What generated code looks like, on fixed targets.
#include <elf.h>

#include <cstring>
#include <regex>
#include <sstream>

#include "codegen/llvm/test_kernel.h"

using namespace farm;
using namespace farm::codegen_test;

namespace {

/// out[6,2*lanes] = a[6,K] x b[K,2*lanes] with accumulators in registers, rows unrolled: the heart of every matmul.
Module tile_module(int rows, int lanes, int64_t depth) {
  const int vectors = 2;
  const int64_t width = vectors * lanes;
  const Buffer a = make_buffer("a", kFloat32, {rows, depth}), b = make_buffer("b", kFloat32, {depth, width});
  const Buffer out = make_buffer("out", kFloat32, {rows, width});
  const Buffer tile = make_buffer("tile", kFloat32, {rows, width}, Scope::Register);
  const Var k = make_var("k");
  std::vector<Stmt> zero, multiply, write;
  for (int row = 0; row < rows; ++row)
    for (int v = 0; v < vectors; ++v) {
      const Expr at = ramp(int_imm(row * width + v * lanes), int_imm(1), lanes);
      const Expr left = broadcast(load(a, {var_expr(k) + row * depth}), lanes);
      const Expr right = load(b, {ramp(var_expr(k) * width + v * lanes, int_imm(1), lanes)});
      zero.push_back(store(tile, at, broadcast(float_imm(0), lanes)));
      multiply.push_back(store(tile, at, load(tile, {at}) + left * right));
      write.push_back(store(out, at, load(tile, {at})));
    }
  const auto body = make_seq({make_seq(zero), loop(k, depth, make_seq(multiply)), make_seq(write)});
  Module module = run_module({a, b}, out, make_stmt(Allocate{tile, body}));
  module.flops = 2.0 * rows * static_cast<double>(width * depth);
  return module;
}

std::string assembly(const Module& module, const char* target) {
  const auto listing = list_code(module, named(target), 1);
  REQUIRE(listing.has_value());
  return listing->assembly;
}

/// The lines of the innermost loop: from the label that the last backward jump names to that jump.
std::vector<std::string> inner_loop(const std::string& assembly) {
  std::istringstream in(assembly);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  for (size_t jump = 0; jump < lines.size(); ++jump) {
    std::smatch match;
    if (!std::regex_search(lines[jump], match, std::regex(R"(\sj\w+\s+(\.LBB\w+))"))) continue;
    for (size_t label = jump; label-- > 0;)
      if (lines[label].starts_with(match[1].str() + ":")) return {lines.begin() + label, lines.begin() + jump + 1};
  }
  return {};
}

int count(const std::vector<std::string>& lines, const std::string& pattern) {
  return static_cast<int>(std::count_if(
      lines.begin(), lines.end(), [&](const auto& line) { return std::regex_search(line, std::regex(pattern)); }));
}

}  // namespace

TEST_CASE("a 6x16 tile keeps its accumulators in registers") {
  const auto text = assembly(tile_module(6, 8, 512), "x86-64-v3");
  const auto lines = inner_loop(text);
  INFO(text);
  CHECK(count(lines, "vfmadd") == 12);
  CHECK(count(lines, "%rsp|%rbp") == 0);
  CHECK(count(lines, "vmov[au]ps\\s+%ymm\\d+, .*\\(") == 0);  // no stores
  CHECK(lines.size() <= 12 + 2 + 6 + 5);
}

TEST_CASE("a 14x32 tile of an AVX-512 device stays in its 32 registers") {
  const auto lines = inner_loop(assembly(tile_module(14, 16, 512), "x86-64-v4"));
  CHECK(count(lines, "vfmadd.*zmm") == 28);
  CHECK(count(lines, "%rsp|%rbp") == 0);
}

TEST_CASE("code for a level uses nothing beyond it") {
  const auto module = tile_module(2, 16, 64);
  CHECK(assembly(module, "x86-64-v4").find("%zmm") != std::string::npos);
  CHECK(assembly(module, "x86-64-v3").find("%zmm") == std::string::npos);
  CHECK(assembly(module, "x86-64-v3").find("%ymm") != std::string::npos);
  CHECK(assembly(module, "x86-64-v2").find("%ymm") == std::string::npos);
  CHECK(assembly(module, "x86-64-v2").find("vfmadd") == std::string::npos);
}

TEST_CASE("a narrowed device gets code for the narrow level") {
  Target target = named("x86-64-v4");
  const auto narrowed = narrow(target, "x86-64-v3");
  REQUIRE(narrowed.has_value());
  const auto listing = list_code(tile_module(2, 16, 64), *narrowed, 1);
  REQUIRE(listing.has_value());
  CHECK(listing->assembly.find("%zmm") == std::string::npos);
}

TEST_CASE("a feature that a named CPU lacks here is not used") {
  Target target = named("znver3");
  std::erase(target.features, "fma");
  const auto listing = list_code(tile_module(2, 8, 64), target, 1);
  REQUIRE(listing.has_value());
  CHECK(listing->assembly.find("vfmadd") == std::string::npos);
  CHECK(assembly(tile_module(2, 8, 64), "znver3").find("vfmadd") != std::string::npos);
}

TEST_CASE("the version of the code generator is LLVM's") { CHECK(codegen_version().starts_with("llvm 19.")); }

TEST_CASE("the same module gives the same bytes") {
  const auto backend = make_llvm_backend();
  const auto first = backend->build(tile_module(6, 8, 64), named("x86-64-v3"), 1);
  const auto second = backend->build(tile_module(6, 8, 64), named("x86-64-v3"), 1);
  REQUIRE(first.has_value());
  REQUIRE(second.has_value());
  CHECK(artifact_hash(*first) == artifact_hash(*second));
}

TEST_CASE("a target without a code generator is an error that says what there is") {
  Target target;
  target.isa = target.cpu = "armv8-a";
  const auto artifact = make_llvm_backend()->build(tile_module(2, 8, 4), target, 1);
  REQUIRE(!artifact.has_value());
  CHECK(artifact.error() ==
        Error{ErrorCode::InvalidArgument,
              "codegen: no code generator for armv8-a; levels of x86-64, aarch64, armv7, riscv64 are possible"});
}

TEST_CASE("boards get their own multiply-adds from the same module") {
  const auto multiply_adds = [](int lanes, const char* target, const char* pattern) {
    const auto text = assembly(tile_module(6, lanes, 512), target);
    std::istringstream in(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    INFO(text);
    return count(lines, pattern);
  };
  CHECK(multiply_adds(4, "cortex-a72", R"(fmla\s+v\d+\.4s)") == 12);
  CHECK(multiply_adds(4, "cortex-a76", R"(fmla\s+v\d+\.4s)") == 12);
  CHECK(multiply_adds(4, "cortex-a15", R"(vfma\.f32\s+q\d+)") >= 12);
  CHECK(multiply_adds(4, "cortex-a9", R"(vmla\.f32\s+q\d+|vmul\.f32\s+q\d+)") >= 12);
  CHECK(multiply_adds(4, "riscv64-v", R"(vfmacc\.v[fv])") == 12);
  CHECK(multiply_adds(1, "riscv64", R"(fmadd\.s)") >= 12);
}

TEST_CASE("an artifact for a board is a shared object of its machine") {
  const auto backend = make_llvm_backend();
  for (const auto& [target, machine, bits] : {std::tuple{"cortex-a72", EM_AARCH64, ELFCLASS64},
                                              {"cortex-a15", EM_ARM, ELFCLASS32},
                                              {"riscv64", EM_RISCV, ELFCLASS64}}) {
    INFO(target);
    const auto artifact = backend->build(tile_module(6, 4, 64), named(target), 1);
    REQUIRE(artifact);
    REQUIRE(artifact->blob.size() > sizeof(Elf32_Ehdr));
    Elf32_Ehdr header;  // the fields up to e_machine are those of 64 bits
    std::memcpy(&header, artifact->blob.data(), sizeof header);
    CHECK(header.e_machine == machine);
    CHECK(header.e_ident[EI_CLASS] == bits);
    CHECK(header.e_type == ET_DYN);
  }
}
