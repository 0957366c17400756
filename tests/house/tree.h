// The source tree as text: rooms, their files, their includes. Nothing here knows a rule; house_test.cpp does.
#pragma once
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace farm::house {

struct Include {
  std::string path;     ///< as written between the quotes or brackets
  bool system = false;  ///< <...>
  int line = 0;
};

struct SourceFile {
  std::string path;  ///< relative to the root: "schedule/passes/vectorize.cpp"
  std::string text;
  std::vector<Include> includes;

  std::string room() const { return path.substr(0, path.find('/')); }
  bool is_test() const { return path.ends_with("_test.cpp"); }
  bool is_header() const { return path.ends_with(".h"); }
};

struct Tree {
  std::filesystem::path root;
  std::vector<std::string> rooms;                     ///< lowest first, as the top-level CMakeLists.txt orders them
  std::map<std::string, std::set<std::string>> deps;  ///< what a room's CMakeLists.txt names, for code
  std::map<std::string, std::set<std::string>> test_deps;  ///< what its tests may use besides
  std::map<std::string, SourceFile> files;                 ///< by path: every .h .c .cpp of rooms, apps and around them

  bool is_room(const std::string& name) const { return deps.contains(name); }
};

/// Reads the checkout at `root`. `apps` counts as a room that may include every other.
Tree read_tree(const std::filesystem::path& root);

std::string read_file(const std::filesystem::path& path);
std::vector<std::string> lines_of(const std::string& text);

/// Include lines of C or C++ text.
std::vector<Include> includes_of(const std::string& text);

/// Paths of this project that a Markdown text names: in backquotes, or as the target of a relative link.
std::set<std::string> paths_named(const std::string& markdown, const Tree& tree);

}  // namespace farm::house
