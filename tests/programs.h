// Our programs as people and scripts meet them: started in an empty folder of their own, with their exit code, standard
// output and standard error taken apart.
#pragma once
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "testing.h"

namespace farm {

struct ProgramResult {
  int code = 0;
  std::string out, err;
};

class ProgramFolder {
 public:
  /// `bin`: where the programs are.
  explicit ProgramFolder(std::string bin) : bin_(std::move(bin)) {
    std::string pattern = (std::filesystem::temp_directory_path() / "tunefarm_test_XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;
    std::filesystem::create_directory(folder_ + "/work");
  }
  ~ProgramFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  ProgramFolder(const ProgramFolder&) = delete;

  /// A line for the shell, in this folder, with our programs found first and no tracker named.
  ProgramResult operator()(const std::string& command) const {
    std::string line = "cd '" + folder_ + "/work' && unset TUNEFARM_TRACKER && export PATH='" + bin_ +
                       "':\"$PATH\" && { " + command + "\n} >'" + folder_ + "/out' 2>'" + folder_ + "/err' </dev/null";
    int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), slurp(folder_ + "/out"),
            slurp(folder_ + "/err")};
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
  }
  std::string read(const std::string& name) const { return slurp(path(name)); }
  std::string path(const std::string& name) const { return folder_ + "/work/" + name; }
  /// Everything in the folder, one level.
  size_t files() const {
    using Entries = std::filesystem::directory_iterator;
    return size_t(std::distance(Entries(folder_ + "/work"), Entries()));
  }

 private:
  static std::string slurp(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string bin_, folder_;
};

}  // namespace farm
