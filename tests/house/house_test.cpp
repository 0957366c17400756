// The house rules, checked: rooms, doors, tests that run, documents that tell the truth.
//
// A rule's failure lists every breach with file and line. Mend the breach, not the rule; where a rule itself is wrong,
// change it here with the reason beside it.
#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "testing.h"
#include "tree.h"

namespace farm::house {
namespace {

const Tree& tree() {
  static const Tree read = read_tree(HOUSE_ROOT);
  return read;
}

// Doors besides <room>/<room>.h. A sub-room that only some programs link has its own, so that a device's program does
// not compile what belongs to another kind of device.
const std::set<std::string>& sub_doors() {
  static const std::set<std::string> doors{
      "runtime/kernel_abi.h",      // C: what a kernel and its caller agree on; compiled libraries embed it
      "runtime/cpu/cpu_device.h",  // apps choose the devices that a program has
      "runtime/vta/vta.h",         // the accelerator's device half: its code generator writes what this reads
      "target/vta.h",              // the accelerator's configuration; CPUs' programs need not see it
      "rpc/messages.h",            // every message, for the two programs that serve it
      "rpc/event_loop.h",          // connections and timers, for the same two
  };
  return doors;
}

bool is_door(const std::string& path) {
  auto room = path.substr(0, path.find('/'));
  return room == "base" || path == room + "/" + room + ".h" || sub_doors().contains(path);
}

std::string at(const SourceFile& file, const Include& include) {
  return file.path + ":" + std::to_string(include.line) + " includes " + include.path;
}

std::string list(const std::vector<std::string>& breaches) { return "\n  " + join(breaches, "\n  "); }

// The room that an include reaches, or "" when it reaches none or the file's own.
std::string other_room(const SourceFile& file, const Include& include) {
  if (include.system) return "";
  auto room = include.path.substr(0, include.path.find('/'));
  return tree().is_room(room) && room != file.room() ? room : "";
}

bool may_include(const SourceFile& file, const std::string& room) {
  if (tree().deps.at(file.room()).contains(room)) return true;
  auto extra = tree().test_deps.find(file.room());
  return file.is_test() && extra != tree().test_deps.end() && extra->second.contains(room);
}

// <vector>, <cstdint> and the two C headers that C++ programs share with C.
bool is_standard_header(const std::string& name) {
  static const std::set<std::string> c_headers{"stdint.h", "stddef.h"};
  return c_headers.contains(name) || name.find_first_of("./") == std::string::npos;
}

// Everything of the project that a header brings with it.
std::set<std::string> closure(const std::string& header) {
  std::set<std::string> seen;
  std::vector<std::string> open{header};
  while (!open.empty()) {
    auto path = open.back();
    open.pop_back();
    auto file = tree().files.find(path);
    if (file == tree().files.end() || !seen.insert(path).second) continue;
    for (const auto& include : file->second.includes) {
      if (!include.system) open.push_back(include.path);
    }
  }
  return seen;
}

std::vector<std::filesystem::path> documents() {
  std::vector<std::filesystem::path> found{tree().root / "README.md", tree().root / "CHANGELOG.md"};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(tree().root / "docs")) {
    if (entry.path().extension() == ".md") found.push_back(entry.path());
  }
  return found;
}

// Characters, not bytes: those that go on with another one are left out.
size_t columns(const std::string& line) {
  return size_t(std::ranges::count_if(line, [](char c) { return (c & 0xc0) != 0x80; }));
}

struct Sizes {
  size_t files = 0, lines = 0, test_lines = 0, median = 0, ninth_decile = 0, longest = 0;
  std::string longest_path;
};

Sizes sizes_of(const std::string& folder) {
  Sizes sizes;
  std::vector<size_t> counts;
  for (const auto& [path, file] : tree().files) {
    if (file.room() != folder) continue;
    size_t lines = lines_of(file.text).size();
    (file.is_test() ? sizes.test_lines : sizes.lines) += lines;
    counts.push_back(lines);
    if (lines > sizes.longest) sizes.longest = lines, sizes.longest_path = path;
  }
  std::ranges::sort(counts);
  sizes.files = counts.size();
  if (!counts.empty()) sizes.median = counts[counts.size() / 2], sizes.ninth_decile = counts[counts.size() * 9 / 10];
  return sizes;
}

}  // namespace

TEST_CASE("the tree is read: every room has a door and files") {
  REQUIRE(tree().rooms.size() >= 12);
  CHECK(tree().rooms.front() == "base");
  for (const auto& room : tree().rooms) {
    INFO(room);
    CHECK((room == "base" || tree().files.contains(room + "/" + room + ".h")));
  }
}

TEST_CASE("include lines are found, and what only looks like one is not") {
  auto includes = includes_of("#include \"a/b.h\"\n  #  include <vector>\n// #include <no>\n#define x \"y\"\n");
  REQUIRE(includes.size() == 2);
  CHECK(includes[0].path == "a/b.h");
  CHECK(includes[1].system);
  CHECK(includes[1].line == 2);
}

TEST_CASE("a room includes only the rooms that its CMakeLists.txt names") {
  std::vector<std::string> breaches;
  for (const auto& [path, file] : tree().files) {
    if (!tree().is_room(file.room())) continue;
    for (const auto& include : file.includes) {
      auto room = other_room(file, include);
      if (!room.empty() && !may_include(file, room)) breaches.push_back(at(file, include));
    }
  }
  INFO(list(breaches));
  CHECK(breaches.empty());
}

TEST_CASE("other rooms are entered by their doors") {
  std::vector<std::string> breaches;
  for (const auto& [path, file] : tree().files) {
    if (!tree().deps.contains(file.room())) continue;  // benchmarks and the like may look inside
    for (const auto& include : file.includes) {
      if (other_room(file, include).empty() || is_door(include.path)) continue;
      breaches.push_back(at(file, include));
    }
  }
  INFO(list(breaches));
  CHECK(breaches.empty());
}

TEST_CASE("no door brings a third-party header") {
  std::vector<std::string> breaches;
  for (const auto& [door, unused] : tree().files) {
    if (!door.ends_with(".h") || !tree().is_room(door.substr(0, door.find('/'))) || !is_door(door)) continue;
    for (const auto& path : closure(door)) {
      const auto& file = tree().files.at(path);
      for (const auto& include : file.includes) {
        if (include.system && !is_standard_header(include.path)) breaches.push_back(door + ": " + at(file, include));
      }
    }
  }
  INFO(list(breaches));
  CHECK(breaches.empty());
}

TEST_CASE("every test file is part of a target") {
  auto commands = read_file(std::filesystem::path(HOUSE_BUILD) / "compile_commands.json");
  REQUIRE_FALSE(commands.empty());
  std::vector<std::string> breaches;
  for (const auto& [path, file] : tree().files) {
    if (file.is_test() && commands.find(HOUSE_ROOT "/" + path) == std::string::npos) breaches.push_back(path);
  }
  INFO(list(breaches));
  CHECK(breaches.empty());
}

TEST_CASE("every path that a document names exists") {
  std::vector<std::string> breaches;
  for (const auto& document : documents()) {
    auto text = read_file(document);
    auto name = std::filesystem::relative(document, tree().root).generic_string();
    if (text.empty()) breaches.push_back(name + " is missing or empty");
    for (const auto& path : paths_named(text, tree())) {
      bool there =
          std::filesystem::exists(tree().root / path) || std::filesystem::exists(document.parent_path() / path);
      if (!there) breaches.push_back(name + " names " + path);
    }
  }
  INFO(list(breaches));
  CHECK(breaches.empty());
}

TEST_CASE("a document's lines end before column 120") {
  std::vector<std::string> breaches;
  for (const auto& document : documents()) {
    auto lines = lines_of(read_file(document));
    for (size_t i = 0; i < lines.size(); ++i) {
      if (columns(lines[i]) > 120) breaches.push_back(document.filename().string() + ":" + std::to_string(i + 1));
    }
  }
  INFO(list(breaches));
  CHECK(breaches.empty());
}

TEST_CASE("a document's paths are told from its commands, types and addresses") {
  auto paths = paths_named(
      "`base/hash.h` `./farm test` `int8/int32` `/usr/lib/x.h` [a](docs/no-such.md#part)\n"
      "`https://example.org/a.md` `tune --db a/b.db` `schedule/`",
      tree());
  CHECK(paths == std::set<std::string>{"base/hash.h", "docs/no-such.md"});
}

TEST_CASE("no file holds unfinished work, a home folder, or a hidden input") {
  // Spelt in two halves so that this file does not find itself.
  const std::vector<std::string> anywhere{
      "TO"
      "DO",
      "FIX"
      "ME",
      "/ho"
      "me/",
      "/ro"
      "ot/"};
  std::vector<std::string> breaches;
  for (const auto& [path, file] : tree().files) {
    auto lines = lines_of(file.text);
    for (size_t i = 0; i < lines.size(); ++i) {
      auto where = path + ":" + std::to_string(i + 1);
      for (const auto& word : anywhere) {
        if (lines[i].find(word) != std::string::npos) breaches.push_back(where + " has " + word);
      }
      bool in_room = tree().is_room(file.room()) && file.room() != "apps";
      if (in_room && lines[i].find("getenv(") != std::string::npos)
        breaches.push_back(where + " reads the environment");
    }
  }
  INFO(list(breaches));
  CHECK(breaches.empty());
}

TEST_CASE("the size table, a mirror and not a gate") {
  std::printf("%-12s %6s %7s %7s %7s %7s %8s\n", "folder", "files", "lines", "tests", "median", "9th", "longest");
  auto folders = tree().rooms;
  folders.insert(folders.end(), {"apps", "examples", "benchmarks", "tests"});
  for (const auto& folder : folders) {
    auto s = sizes_of(folder);
    std::printf("%-12s %6zu %7zu %7zu %7zu %7zu %8zu %s\n", folder.c_str(), s.files, s.lines, s.test_lines, s.median,
                s.ninth_decile, s.longest, s.longest_path.c_str());
  }
  SUCCEED();
}

}  // namespace farm::house
