// The program as people and scripts meet it: exit codes, exact messages, documents.
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "testing.h"

namespace {

/// A folder of its own in which the program runs.
class Shell {
 public:
  Shell() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tuning_db_program_XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;
  }
  ~Shell() { std::filesystem::remove_all(folder_); }

  /// "exit code\nstandard output, then standard error".
  std::string operator()(const std::string& arguments) const {
    std::string command = "cd '" + folder_ + "' && '" TUNING_DB_PROGRAM "' " + arguments +
                          " 2>stderr.txt; code=$?; cat stderr.txt; rm stderr.txt; exit $code";
    FILE* pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::string output;
    char buffer[4096];
    for (size_t got; (got = fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, got);
    int status = pclose(pipe);
    return std::to_string(WEXITSTATUS(status)) + "\n" + output;
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << text;
  }
  std::string read(const std::string& name) const {
    std::ifstream in(folder_ + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  size_t files() const {
    return size_t(std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator()));
  }

 private:
  std::string folder_;
};

std::string line(const std::string& task, const std::string& candidate, const std::string& outcome,
                 const std::string& latency_ns) {
  return "{\"task\":\"" + task + "\",\"target\":\"x86-64-v3/znver3\",\"threads\":2,\"candidate\":\"" + candidate +
         "\",\"role\":\"trial\",\"outcome\":\"" + outcome + "\",\"latency_ns\":" + latency_ns +
         ",\"flops\":2000000,\"peak_gflops\":100}\n";
}

const std::string kMatmul = "matmul(m=100,n=100,k=100)";
const std::string kDense = "matmul(m=1,n=1000,k=512,constant=b)";  // the last layer of ResNet-18
const std::string kLines = line(kMatmul, "direct{tile=4}", "ok", "50000") +
                           line(kMatmul, "direct{tile=8}", "crashed", "null") +
                           line(kMatmul, "direct{tile=2}", "ok", "40000") + line(kDense, "direct{}", "ok", "1000000");

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("a missing database is named and not created") {
  Shell shell;
  for (const char* command : {"query", "best --json", "export", "verify"})
    CHECK(shell(command) == "3\ntuning_db: no database tuning.db; tune writes one, --db FILE names another\n");
  CHECK(shell("merge none.db") == "3\ntuning_db: no database none.db; tune writes one, --db FILE names another\n");
  CHECK(shell("import none.jsonl") == "3\ntuning_db: no file none.jsonl to import\n");
  CHECK(shell.files() == 0);
}

TEST_CASE("imported records are listed, filtered and ranked") {
  Shell shell;
  shell.write("a.jsonl", kLines);
  CHECK(shell("import a.jsonl") == "0\nimported 4 records, 4 of them new\n");
  CHECK(shell("import a.jsonl --json") == "0\n{\"read\":4,\"added\":0,\"bad\":[]}\n");
  CHECK(count(shell("query --json"), "\"task\":") == 4);
  CHECK(count(shell("query --json"), "\"latency_ns\":null") == 1);
  CHECK(count(shell("query --task matmul --json"), "\"task\":") == 4);
  CHECK(count(shell("query --task matmul --shape m=100,n=100,k=100 --json"), "\"task\":") == 3);
  CHECK(count(shell("query --task matmul --shape m=1,n=1000,k=512 --constant b --json"), "\"task\":") == 1);
  CHECK(count(shell("query --task resnet18 --target znver3 --json"), "\"task\":") == 1);
  CHECK(count(shell("query --threads 1 --json"), "\"task\":") == 0);
  std::string best = shell("best --task matmul --shape m=100,n=100,k=100 --json");
  CHECK(count(best, "\"task\":") == 1);
  CHECK(count(best, "direct{tile=2}") == 1);
  CHECK(count(best, "\"share_of_peak\":0.5") == 1);
}

TEST_CASE("a file of tasks narrows like the tasks in it, and a limit takes the oldest") {
  Shell shell;
  shell.write("a.jsonl", kLines);
  shell("import a.jsonl");
  shell.write("layers.txt", "# a comment\n2 x " + kDense + "\nmatmul(m=7,n=7,k=7)\n");
  CHECK(count(shell("query --task layers.txt --json"), "\"task\":") == 1);
  CHECK(count(shell("best --task ./layers.txt --json"), "\"task\":\"" + kDense + "\"") == 1);
  std::string oldest = shell("query --limit 2 --json");
  CHECK(count(oldest, "\"task\":") == 2);
  CHECK(count(oldest, "direct{tile=4}") == 1);
  CHECK(count(oldest, "direct{tile=8}") == 1);
  CHECK(count(shell("query --limit 9 --json"), "\"task\":") == 4);
  CHECK(shell("best --limit 2").starts_with("2\ntuning_db: unknown flag --limit"));
}

TEST_CASE("people get aligned columns, and a reason for an empty answer") {
  Shell shell;
  shell.write("a.jsonl", kLines);
  shell("import a.jsonl");
  CHECK(
      shell("query --task matmul --shape m=100,n=100,k=100") ==
      "0\n"
      "task                       target            threads  role   outcome   latency  GFLOP/s  peak  candidate\n"
      "matmul(m=100,n=100,k=100)  x86-64-v3/znver3        2  trial  ok       50.00 us     40.0  40 %  direct{tile=4}\n"
      "matmul(m=100,n=100,k=100)  x86-64-v3/znver3        2  trial  crashed         -        -     -  direct{tile=8}\n"
      "matmul(m=100,n=100,k=100)  x86-64-v3/znver3        2  trial  ok       40.00 us     50.0  50 %  "
      "direct{tile=2}\n");
  CHECK(shell("query --task conv2d") ==
        "0\nno record matches; tuning.db holds 4 records of matmul for x86-64-v3/znver3\n");
}

TEST_CASE("a kernel of nanoseconds has its time in the table") {
  Shell shell;
  shell.write("a.jsonl", line("matmul(m=1,n=1,k=2)", "direct{}", "ok", "3.25"));
  shell("import a.jsonl");
  CHECK(count(shell("query"), "  ok       3.250 ns  ") == 1);
}

TEST_CASE("exported lines give the same database elsewhere") {
  Shell shell;
  shell.write("a.jsonl", kLines);
  shell("import a.jsonl");
  CHECK(shell("export -o b.jsonl") == "0\nexported 4 records to b.jsonl\n");
  CHECK(shell("--db b.db import b.jsonl") == "0\nimported 4 records, 4 of them new\n");
  CHECK(shell("merge --db b.db tuning.db") == "0\nmerged 4 records, 0 of them new\n");
  CHECK(shell("export --db b.db") == "0\n" + shell.read("b.jsonl"));
  CHECK(shell("export -o no/b.jsonl") ==
        "3\ntuning_db: file no/b.jsonl cannot be written: No such file or directory\n");
  CHECK(shell("export -o tuning.db") ==
        "2\ntuning_db: -o tuning.db is the database that is being read; choose another file\n");
  CHECK(shell("verify") == "0\n4 records are whole\n");
}

TEST_CASE("bad lines are named, the others imported") {
  Shell shell;
  shell.write("a.jsonl", kLines + "oops\n");
  CHECK(shell("import a.jsonl") ==
        "3\nimported 4 records, 4 of them new\ntuning_db: line 5: it is no JSON\ntuning_db: 1 bad in a.jsonl; "
        "everything else was taken\n");
}

TEST_CASE("verify finds a flipped byte and says where it is") {
  Shell shell;
  shell.write("a.jsonl", kLines);
  shell("import a.jsonl");
  CHECK(shell("verify") == "0\n4 records are whole\n");
  std::string bytes = shell.read("tuning.db");
  size_t at = bytes.find("\"flops\":2000000.0", bytes.find("direct{tile=2}"));
  REQUIRE(at != std::string::npos);
  bytes[at + 8] = '3';
  shell.write("tuning.db", bytes);
  std::string verdict = shell("verify");
  CHECK(verdict.starts_with("3\n3 records are whole\ntuning_db: record "));
  CHECK(verdict.ends_with(
      ": its content does not match its hash\ntuning_db: database tuning.db is damaged in 1 place\n"));
}

TEST_CASE("query and best name the damaged records that could match, list the others and succeed") {
  Shell shell;
  shell.write("a.jsonl", kLines);
  shell("import a.jsonl");
  std::string bytes = shell.read("tuning.db");
  for (const char* candidate : {"direct{tile=2}", "direct{tile=8}"}) {  // the best one, and one that crashed
    size_t at = bytes.find("\"flops\":2000000.0", bytes.find(candidate));
    REQUIRE(at != std::string::npos);
    bytes[at + 8] = '3';
  }
  shell.write("tuning.db", bytes);
  const std::string second = "\"record 2: its content does not match its hash\"",
                    third = "\"record 3" + second.substr(9);
  std::string all = shell("query --json"), best = shell("best --task matmul --json");
  CHECK(all.starts_with("0\n"));
  CHECK(count(all, "\"task\":") == 2);
  CHECK(count(all, "\"damaged\":[" + second + "," + third + "]}") == 1);
  CHECK(best.starts_with("0\n"));
  CHECK(count(best, "\"task\":") == 2);
  CHECK(count(best, "direct{tile=4}") == 1);
  CHECK(count(best, "\"damaged\":[" + third + "]}") == 1);
  CHECK(count(best, "tuning_db: record 3: ") == 1);  // and on standard error, once
  CHECK(count(shell("best"), "record 3: its content does not match its hash\n") == 1);
  for (const char* other : {"query --threads 1 --json", "best --threads 1 --json"})
    CHECK(count(shell(other), "\"damaged\":[]}") == 1);
}

TEST_CASE("what is no file to read is said so, with the exit code of the world") {
  Shell shell;
  shell.write("a.jsonl", kLines);
  const std::string folder = " is a folder; a database is a file, and --db FILE names one\n";
  for (const char* command : {"query", "best", "export", "verify", "import a.jsonl"})
    CHECK(shell(std::string("--db . ") + command) == "3\ntuning_db: ." + folder);
  CHECK(shell("merge .") == "3\ntuning_db: ." + folder);
  CHECK(shell("import .") == "3\ntuning_db: . is a folder; import takes a file of JSON lines\n");
  CHECK(shell("import a.jsonl/b") == "3\ntuning_db: file a.jsonl/b cannot be read: Not a directory\n");
}

TEST_CASE("a database of which nothing can be read is no empty one") {
  Shell shell;
  shell.write("a.jsonl", line(kMatmul, "direct{tile=4}", "ok", "50000"));
  shell("import a.jsonl");
  std::string bytes = shell.read("tuning.db");
  size_t at = bytes.find("\"flops\":2000000.0");
  REQUIRE(at != std::string::npos);
  bytes[at + 8] = '3';
  shell.write("tuning.db", bytes);
  const std::string damaged = "tuning_db: record 1: its content does not match its hash\n";
  for (const char* command : {"query", "query --json", "best", "best --json", "export", "export -o b.jsonl"})
    CHECK(shell(command) ==
          "3\n" + damaged + "tuning_db: database tuning.db is damaged: none of its records can be read\n");
  CHECK(shell.files() == 2);
}

TEST_CASE("a damaged page: readers go on, a writer names the commands that save the rest, and these work") {
  Shell shell;
  std::string lines;
  for (int tile = 1; tile <= 60; ++tile)
    lines += line(kMatmul, "direct{tile=" + std::to_string(tile) + "}", "ok", std::to_string(50000 + tile));
  shell.write("a.jsonl", lines);
  shell("import --db 'my data.db' a.jsonl");
  std::string bytes = shell.read("my data.db");
  size_t page = bytes.find("direct{tile=30}") / 4096 * 4096;
  bytes.replace(page, 4096, 4096, 'Z');
  shell.write("my data.db", bytes);

  std::string all = shell("query --db 'my data.db' --json");
  CHECK(all.starts_with("0\n"));
  size_t left = count(all, "\"task\":");
  CHECK(left >= 50);
  CHECK(left < 60);
  CHECK(count(all, "are damaged\"]}") == 1);
  CHECK(count(shell("best --db 'my data.db' --json"), "direct{tile=1}") == 1);
  std::string verdict = shell("verify --db 'my data.db'");
  CHECK(verdict.starts_with("3\n" + std::to_string(left) + " records are whole\n"));
  CHECK(count(verdict, "\\x0a") == 0);

  std::string refused = shell("import --db 'my data.db' a.jsonl");
  const std::string save = "export --db 'my data.db' -o 'my data-saved.jsonl'",
                    load = "import --db 'my data-saved.db' 'my data-saved.jsonl'";
  CHECK(refused.starts_with("3\ntuning_db: database my data.db is damaged ("));
  CHECK(refused.ends_with("; save its records with: tuning_db " + save + " && tuning_db " + load + "\n"));
  CHECK(shell(save).starts_with("0\nexported " + std::to_string(left) + " records"));
  CHECK(shell(load).starts_with("0\nimported " + std::to_string(left) + " records"));
  CHECK(shell("verify --db 'my data-saved.db'") == "0\n" + std::to_string(left) + " records are whole\n");
}

TEST_CASE("mistakes on the command line are usage errors with the nearest names") {
  Shell shell;
  CHECK(shell("quary") == "2\ntuning_db: unknown command quary (did you mean query?)\n");
  CHECK(shell("query --tsk conv2d") == "2\ntuning_db: unknown flag --tsk (did you mean --task?)\n");
  CHECK(shell("query --shape m=1") == "2\ntuning_db: --shape m=1 needs --task\n");
  CHECK(shell("best --task matmul --constant b") == "2\ntuning_db: --constant b needs --shape\n");
  CHECK(shell("query --threads 0") == "2\ntuning_db: --threads is '0'; a whole number from 1 to 4096 is wanted\n");
  CHECK(shell("best --task resnet19")
            .starts_with("2\ntuning_db: no task is called resnet19 (did you mean resnet18, resnet50?)"));
  CHECK(shell("--version").starts_with("0\ntuning_db "));
}

TEST_CASE("known devices are listed without a database, and one is described with its sources") {
  Shell shell;
  std::string all = shell("devices");
  CHECK(all.starts_with("0\ndevice  "));
  CHECK(count(all, "\n") >= 16);
  CHECK(count(all, "rk3399         aarch64       2x cortex-a72 + 4x cortex-a53 ") == 1);
  CHECK(count(all, "  74.11    12.8   5.79  ") == 1);
  CHECK(count(all, "h200           -             - ") == 1);  // a card has no cores of its own
  std::string one = shell("devices rk3399");
  CHECK(
      one.starts_with("0\nrk3399: Rockchip RK3399 (Firefly-RK3399)\n"
                      "  aarch64, 4 GiB of memory at 12.8 GB/s, l3 none\n"
                      "  peak 74.11 GFLOP/s of float32, 5.79 flops a byte of memory\n"));
  CHECK(count(one, "  little   4x cortex-a53  1.416 GHz  32 KiB  512 KiB shared  128 bits  8            45.31\n") == 1);
  CHECK(count(one, "\n  sources\n    ") == 1);
  CHECK(shell.files() == 0);
}

TEST_CASE("the document of known devices has what is known, and null for the rest") {
  Shell shell;
  std::string all = shell("devices --json"), one = shell("devices h200 --json");
  CHECK(count(all, "\"flops_per_byte\"") >= 14);
  CHECK(one.starts_with("0\n{\n \"devices\": ["));
  CHECK(count(one, "\"flops_per_byte\"") == 1);
  CHECK(count(one, "\"isa\": null") == 1);
  CHECK(count(one, "\"isa\": \"sm_90\"") == 1);
  CHECK(count(one, "\"shared_bytes_per_block\": 232448") == 1);
  CHECK(count(one, "\"clusters\": []") == 1);
  CHECK(count(shell("devices rpi5 --json"), "\"peak_gflops\": 153.6") == 2);  // of its one cluster, and of all
}

TEST_CASE("an unknown device is answered with the nearest names") {
  Shell shell;
  for (const char* flag : {"", " --json"})
    CHECK(
        shell(std::string("devices rk3398") + flag)
            .starts_with("2\ntuning_db: no device is known as rk3398 (did you mean rk3399?); known are a100, h100, "));
}
