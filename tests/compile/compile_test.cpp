// Which schedule `compile` takes and how it says so, and what it leaves on disk.
#include <nlohmann/json.hpp>

#include "schedule/schedule.h"
#include "tests/compile/elf_facts.h"
#include "tests/programs.h"
#include "tests/records.h"

namespace farm {
namespace {

const std::string kTask = "conv2d(in_channels=8,height=10,width=12,out_channels=16,kernel=3,padding=1)";
const std::string kCommand =
    "compile --task conv2d --shape in_channels=8,height=10,width=12,out_channels=16,kernel=3,padding=1 ";

/// One that is not the default.
std::string other_candidate(const Target& target, int threads) {
  auto space = make_space(*task_from_text(kTask), target, threads);
  REQUIRE(space.has_value());
  Rng rng(1);
  for (;;) {
    auto candidate = (*space)->sample(rng);
    REQUIRE(candidate.has_value());
    if (*candidate != (*space)->default_candidate()) return candidate->text();
  }
}

nlohmann::json compile(const ProgramFolder& shell, const std::string& arguments, std::string* err = nullptr) {
  ProgramResult result = shell(kCommand + "--json " + arguments);
  INFO(result.err);
  REQUIRE(result.code == 0);
  if (err) *err = result.err;
  return nlohmann::json::parse(result.out);
}

}  // namespace

TEST_CASE("without a database the default schedule is compiled, and that is said") {
  ProgramFolder shell(COMPILE_BIN);
  std::string err;
  auto document = compile(shell, "--threads 2 --name my_conv", &err);
  CHECK(err == "compile: no database tuning.db here, so the default schedule is taken; tune writes one\n");
  CHECK(document["schedule"] == "default");
  CHECK(document["record"].is_null());
  CHECK(document["latency_ns"].is_null());
  CHECK(document["task"] == kTask);
  CHECK(document["target"] == describe_host().text());
  CHECK(document["threads"] == 2);
  CHECK(document["library"] == "my_conv.so");
  CHECK(document["header"] == "my_conv.h");
  CHECK(shell.files() == 2);
  CHECK(shell.read("my_conv.h").find("int my_conv(const float *data, const float *weight, float *out);") !=
        std::string::npos);
  CHECK(shell.read("my_conv.h").find(" *   data    float32[1,8,10,12]\n") != std::string::npos);
}

TEST_CASE("a library needs libc, libm and libpthread, and offers what its header says") {
  ProgramFolder shell(COMPILE_BIN);
  compile(shell, "--threads 2 --name my_conv");
  ElfFacts conv = elf_facts(shell.read("my_conv.so"));
  CHECK(conv.exported == std::set<std::string>{"my_conv", "my_conv_packed_bytes", "my_conv_prepack", "my_conv_run"});
  CHECK(conv.needed == std::set<std::string>{"libc.so.6", "libm.so.6", "libpthread.so.0"});
}

TEST_CASE("the best record of this cpu and these threads is taken") {
  ProgramFolder shell(COMPILE_BIN);
  Target host = describe_host();
  std::string candidate = other_candidate(host, 2);
  Record best = measured(kTask, host, 2, candidate, 5000);
  store_records(shell.path("tuning.db"), {measured(kTask, host, 2, other_candidate(host, 2), 9000), best});
  std::string err;
  auto document = compile(shell, "--threads 2", &err);
  CHECK(err == "");
  CHECK(document["schedule"] == "tuned");
  CHECK(document["record"] == to_string(record_hash(best)));
  CHECK(document["latency_ns"] == 5000);
  CHECK(document["candidate"] == candidate);
  CHECK(document["exact"] == true);
  CHECK(shell.read("conv2d.h").find(candidate) != std::string::npos);
}

TEST_CASE("a record of other threads is no record, and the ones there are are named") {
  ProgramFolder shell(COMPILE_BIN);
  Target host = describe_host();
  store_records(shell.path("tuning.db"), {measured(kTask, host, 2, other_candidate(host, 2), 5000)});
  std::string err;
  auto document = compile(shell, "--threads 1", &err);
  CHECK(document["schedule"] == "default");
  CHECK(err == "compile: tuning.db has no record of " + kTask + " for " + host.text() +
                   " on 1 thread, so the default schedule is taken; with --threads 2 there is one\n");
}

TEST_CASE("a record of a cpu whose features are a subset is taken aloud, with code for that cpu") {
  ProgramFolder shell(COMPILE_BIN);
  Target lower = *target_from_name("x86-64-v2");
  store_records(shell.path("tuning.db"), {measured(kTask, lower, 2, other_candidate(lower, 2), 5000)});
  std::string err;
  auto document = compile(shell, "--threads 2", &err);
  CHECK(document["schedule"] == "tuned");
  CHECK(document["exact"] == false);
  CHECK(document["target"] == "x86-64-v2");
  CHECK(err == "compile: tuning.db has no record for " + describe_host().text() +
                   "; code and schedule are those of x86-64-v2, whose features are a subset\n");
}

TEST_CASE("a record of a cpu with more features is not taken") {
  ProgramFolder shell(COMPILE_BIN);
  Target higher = *target_from_name("emeraldrapids");
  store_records(shell.path("tuning.db"), {measured(kTask, higher, 1, other_candidate(higher, 1), 5000)});
  CHECK(compile(shell, "--threads 1 --target x86-64-v3")["schedule"] == "default");
}

TEST_CASE("a recorded schedule that this version does not know gives way to the default") {
  ProgramFolder shell(COMPILE_BIN);
  Record record = measured(kTask, describe_host(), 2, "forgotten{tile=4}", 5000);
  store_records(shell.path("tuning.db"), {record});
  std::string err;
  CHECK(compile(shell, "--threads 2", &err)["schedule"] == "default");
  CHECK(err ==
        "compile: record " + to_string(record_hash(record)) +
            " cannot be used, so the default schedule is taken: this version's space of schedules does not hold it\n");
}

TEST_CASE("a device key means what its records say of the device") {
  ProgramFolder shell(COMPILE_BIN);
  Target board = *target_from_name("haswell");
  board.cores = 3;
  Record record = measured(kTask, board, 3, other_candidate(board, 3), 5000);
  record.device_key = "rack-7";
  store_records(shell.path("tuning.db"), {record});
  auto document = compile(shell, "--target rack-7");
  CHECK(document["target"] == "x86-64-v3/haswell");
  CHECK(document["threads"] == 3);
  CHECK(document["schedule"] == "tuned");
}

TEST_CASE("a cpu that nobody has measured gets code for one thread, and that is said") {
  ProgramFolder shell(COMPILE_BIN);
  std::string err;
  CHECK(compile(shell, "--target broadwell", &err)["threads"] == 1);
  CHECK(
      err.ends_with("compile: how many cores a x86-64-v3/broadwell has is not known, so the code is for 1 thread; "
                    "--threads N changes it\n"));
}

TEST_CASE("an operator without a shape says which it took") {
  ProgramFolder shell(COMPILE_BIN);
  ProgramResult result = shell("compile --task batch_matmul --threads 1");
  CHECK(result.code == 0);
  CHECK(result.err.find("compile: no --shape, so batch_matmul(batch=12,m=128,n=128,k=64): ") != std::string::npos);
  ElfFacts product = elf_facts(shell.read("batch_matmul.so"));
  CHECK(product.exported.contains("batch_matmul_run"));
}

TEST_CASE("a failed compile leaves the library that was there before") {
  ProgramFolder shell(COMPILE_BIN);
  shell.write("my_conv.so", "old");
  std::filesystem::create_directory(shell.path("my_conv.h"));
  ProgramResult result = shell(kCommand + "--name my_conv");
  CHECK(result.code == 3);
  CHECK(shell.read("my_conv.so") == "old");
  CHECK(shell.files() == 2);
}

TEST_CASE("a file of tasks becomes a folder of libraries") {
  ProgramFolder shell(COMPILE_BIN);
  shell.write("tasks.txt", "2 x matmul(m=8,n=16,k=4)\n" + kTask + "\n");
  ProgramResult result = shell("compile --task tasks.txt --threads 1 --name net -o out/ --json");
  INFO(result.err);
  REQUIRE(result.code == 0);
  auto document = nlohmann::json::parse(result.out);
  REQUIRE(document["tasks"].size() == 2);
  CHECK(document["network_ns"].is_null());
  CHECK(document["tasks"][0]["occurrences"] == 2);
  for (const auto& task : document["tasks"]) CHECK(elf_facts(shell.read(task["library"])).exported.size() == 4);
}

TEST_CASE("layers without a record are counted, not listed") {
  ProgramFolder shell(COMPILE_BIN);
  shell.write("tasks.txt", "matmul(m=8,n=16,k=4)\nmatmul(m=8,n=16,k=5)\n" + kTask + "\n");
  Target host = describe_host();
  store_records(shell.path("tuning.db"), {measured(kTask, host, 2, other_candidate(host, 2), 5000)});
  ProgramResult result = shell("compile --task tasks.txt --threads 2 --name net -o out");
  CHECK(result.code == 2);  // a folder that is not there needs its slash
  result = shell("compile --task tasks.txt --threads 2 --name net -o out/");
  CHECK(result.err == "compile: tuning.db has no record of 2 of 3 layers for " + host.text() +
                          " with --threads 2, so these take the default schedule\n");
}

TEST_CASE("the code can be looked at without writing anything") {
  ProgramFolder shell(COMPILE_BIN);
  for (const char* what : {"nest", "ir", "asm"}) {
    ProgramResult result = shell(kCommand + "--threads 1 --show " + what);
    CHECK(result.code == 0);
    CHECK(result.out.size() > 200);
  }
  CHECK(shell.files() == 0);
}

}  // namespace farm
