// What `compile` writes: code, header and what the shared object asks of the system.
#include <elf.h>
#include <sys/wait.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <thread>

#include "codegen/llvm/test_kernel.h"

using namespace farm;
using namespace farm::codegen_test;

namespace {

constexpr int64_t kRows = 48, kColumns = 40;

/// out[y] = sum x data[y,x] * weight[x], the weight doubled by prepack, a workspace and a parallel loop in between.
Module small_module() {
  const Buffer data = make_buffer("data", kFloat32, {kRows, kColumns}),
               weight = make_buffer("weight", kFloat32, {kColumns});
  const Buffer packed = make_buffer("packed", kFloat32, {kColumns}), out = make_buffer("out", kFloat32, {kRows});
  const Buffer sums = make_buffer("sums", kFloat32, {kRows}, Scope::Workspace);
  const Var y = make_var("y"), x = make_var("x"), z = make_var("z"), p = make_var("p");
  const Expr product = load(data, {var_expr(y) * kColumns + var_expr(x)}) * load(packed, {var_expr(x)});
  const auto row = make_seq({store(sums, var_expr(y), float_imm(0)),
                             loop(x, kColumns, store(sums, var_expr(y), load(sums, {var_expr(y)}) + product))});
  Module module = run_module({data}, out,
                             make_seq({loop(y, kRows, row, LoopKind::Parallel),
                                       loop(z, kRows, store(out, var_expr(z), load(sums, {var_expr(z)})))}));
  module.constants = {weight};
  module.packed = {packed};
  module.packed_offsets = {0};
  module.packed_bytes = kColumns * 4;
  module.functions[0].workspace = {sums};
  module.workspace_offsets = {0};
  module.workspace_bytes = kRows * 4;
  module.functions.push_back(
      {.name = "prepack",
       .role = FunctionRole::Prepack,
       .params = {weight, packed},
       .body = loop(p, kColumns, store(packed, var_expr(p), load(weight, {var_expr(p)}) * float_imm(2)))});
  return module;
}

Library built(const Module& module, const LibraryOptions& options) {
  auto library = build_library(module, host(), options);
  INFO((library ? "" : library.error().message));
  REQUIRE(library.has_value());
  return *std::move(library);
}

std::vector<float> expected(const std::vector<float>& data, const std::vector<float>& weight) {
  std::vector<float> out(kRows);
  for (int64_t y = 0; y < kRows; ++y)
    for (int64_t x = 0; x < kColumns; ++x) out[y] += data[y * kColumns + x] * weight[x] * 2;
  return out;
}

/// Names of the dynamic symbols that are defined, and the libraries that are needed.
struct Dynamic {
  std::set<std::string> defined, needed;
};

Dynamic dynamic(const std::vector<std::byte>& file) {
  Dynamic result;
  const auto* bytes = reinterpret_cast<const char*>(file.data());
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(bytes);
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(bytes + header->e_shoff);
  for (int i = 0; i < header->e_shnum; ++i) {
    const char* strings = bytes + sections[sections[i].sh_link].sh_offset;
    if (sections[i].sh_type == SHT_DYNSYM) {
      const auto* symbols = reinterpret_cast<const Elf64_Sym*>(bytes + sections[i].sh_offset);
      for (size_t k = 1; k < sections[i].sh_size / sizeof(Elf64_Sym); ++k)
        if (symbols[k].st_shndx != SHN_UNDEF) result.defined.insert(strings + symbols[k].st_name);
    }
    if (sections[i].sh_type == SHT_DYNAMIC) {
      for (const auto* entry = reinterpret_cast<const Elf64_Dyn*>(bytes + sections[i].sh_offset);
           entry->d_tag != DT_NULL; ++entry)
        if (entry->d_tag == DT_NEEDED) result.needed.insert(strings + entry->d_un.d_val);
    }
  }
  return result;
}

using Whole = int (*)(const float*, const float*, float*);
using Prepack = int (*)(const float*, void*);
using Run = int (*)(const float*, const void*, float*);

}  // namespace

TEST_CASE("a library packs and runs in one call or in two, at any alignment, on any number of threads") {
  const auto data = ramp_values(kRows * kColumns), weight = ramp_values(kColumns, 5);
  const auto wanted = expected(data, weight);
  for (const int threads : {1, 2, 3}) {
    const Loaded library(
        built(small_module(), {.name = "small", .threads = threads, .operands = {"data", "weight"}}).shared_object);
    std::vector<float> out(kRows, -1);
    CHECK(library.symbol<Whole>("small")(data.data(), weight.data(), out.data()) == 0);
    CHECK(out == wanted);

    CHECK(library.symbol<size_t (*)()>("small_packed_bytes")() == kColumns * 4);
    std::vector<float> packed(kColumns + 1);
    out.assign(kRows, -1);
    CHECK(library.symbol<Prepack>("small_prepack")(weight.data(), packed.data() + 1) == 0);
    CHECK(library.symbol<Run>("small_run")(data.data(), packed.data() + 1, out.data()) == 0);
    CHECK(out == wanted);
  }
}

TEST_CASE("many threads may call a library at the same time") {
  const auto data = ramp_values(kRows * kColumns), weight = ramp_values(kColumns, 5);
  const auto wanted = expected(data, weight);
  const Loaded library(built(small_module(), {.name = "small", .threads = 2}).shared_object);
  const auto whole = library.symbol<Whole>("small");
  std::vector<int> wrong(4, 0);
  std::vector<std::thread> callers;
  for (int& count : wrong)
    callers.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        std::vector<float> out(kRows, -1);
        if (whole(data.data(), weight.data(), out.data()) != 0 || out != wanted) ++count;
      }
    });
  for (auto& caller : callers) caller.join();
  CHECK(wrong == std::vector<int>(4, 0));
}

TEST_CASE("a library exports its four functions and needs three libraries, a kernel two functions and none") {
  const auto library = dynamic(built(small_module(), {.name = "small", .threads = 2}).shared_object);
  CHECK(library.defined == std::set<std::string>{"small", "small_packed_bytes", "small_prepack", "small_run"});
  CHECK(library.needed == std::set<std::string>{"libc.so.6", "libm.so.6", "libpthread.so.0"});
  const auto kernel = dynamic(make_llvm_backend()->build(small_module(), host(), 2)->blob);
  CHECK(kernel.defined == std::set<std::string>{"farm_run", "farm_prepack"});
  CHECK(kernel.needed.empty());
}

TEST_CASE("operands come in the task's order") {
  const auto library = built(small_module(), {.name = "small", .operands = {"weight", "data"}});
  CHECK(library.header.find("int small(const float *weight, const float *data, float *out);") != std::string::npos);
  const auto data = ramp_values(kRows * kColumns), weight = ramp_values(kColumns, 5);
  std::vector<float> out(kRows, -1);
  CHECK(Loaded(library.shared_object).symbol<Whole>("small")(weight.data(), data.data(), out.data()) == 0);
  CHECK(out == expected(data, weight));
}

TEST_CASE("wrong options are refused by name") {
  const auto refuse = [](const LibraryOptions& options) {
    const auto library = build_library(small_module(), host(), options);
    REQUIRE(!library.has_value());
    return library.error().message;
  };
  CHECK(refuse({.name = "3conv"}) == "library name is 3conv; a C identifier is needed, such as my_conv");
  CHECK(refuse({.name = "c", .operands = {"data", "wait"}}) == "codegen: the kernel has no operand wait");
  CHECK(refuse({.name = "c", .operands = {"data"}}) == "codegen: operand weight is left out of the library");
}

TEST_CASE("a library for another family than its threads are built for is refused") {
  const Target board = *target_from_name("armv7");
  REQUIRE(make_llvm_backend()->build(small_module(), board, 2).has_value());
  const auto library = build_library(small_module(), board, {.name = "small"});
  REQUIRE(!library.has_value());
  CHECK(library.error().code == ErrorCode::InvalidArgument);
  CHECK(library.error().message.find("codegen: no library for armv7") == 0);
}

TEST_CASE("without constants nothing is packed and run is the whole") {
  const Buffer a = make_buffer("a", kFloat32, {8}), b = make_buffer("b", kFloat32, {8}),
               out = make_buffer("out", kFloat32, {8});
  const Var i = make_var("i");
  const auto module =
      run_module({a, b}, out, loop(i, 8, store(out, var_expr(i), load(a, {var_expr(i)}) + load(b, {var_expr(i)}))));
  const auto library = built(module, {.name = "add"});
  CHECK(library.header.find("int add_prepack(void *packed);") != std::string::npos);
  CHECK(library.header.find("int add_run(const float *a, const float *b, float *out);") != std::string::npos);
  const Loaded loaded(library.shared_object);
  const std::vector<float> x(8, 1), y(8, 2);
  std::vector<float> sum(8);
  CHECK(loaded.symbol<size_t (*)()>("add_packed_bytes")() == 0);
  CHECK(loaded.symbol<int (*)(void*)>("add_prepack")(nullptr) == 0);
  CHECK(loaded.symbol<Whole>("add_run")(x.data(), y.data(), sum.data()) == 0);
  CHECK(sum == std::vector<float>(8, 3));
}

TEST_CASE("the header says what the library is for") {
  const auto header =
      built(small_module(), {.name = "small", .threads = 2, .comment = "task: dot\nschedule: default */"}).header;
  for (const char* part : {"/* small\n * task: dot\n * schedule: default * /\n", ", 2 threads.\n", "#ifndef SMALL_H\n",
                           " *   data    float32[48,40]\n", " *   out     float32[48]  written", "extern \"C\" {",
                           "int small(const float *data, const float *weight, float *out);",
                           "int small_prepack(const float *weight, void *packed);",
                           "int small_run(const float *data, const void *packed, float *out);"})
    CHECK(header.find(part) != std::string::npos);
}
