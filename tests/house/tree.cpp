#include "tree.h"

#include <array>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/text.h"

namespace fs = std::filesystem;

namespace farm::house {
namespace {

// Folders outside the graph of rooms whose sources are read too.
constexpr std::array kAround = {"apps", "examples", "benchmarks", "tests", "cmake"};

bool is_source(const fs::path& path) {
  auto extension = path.extension();
  return extension == ".h" || extension == ".c" || extension == ".cpp";
}

// The words between the parentheses of the first call of `function`, comments left out.
std::vector<std::string> cmake_arguments(const std::string& text, const std::string& function) {
  std::string code;
  for (const auto& line : lines_of(text)) code += line.substr(0, line.find('#')) + " ";
  auto begin = code.find(function + "(");
  if (begin == std::string::npos) return {};
  begin += function.size() + 1;
  std::istringstream words(code.substr(begin, code.find(')', begin) - begin));
  return {std::istream_iterator<std::string>(words), {}};
}

// "add_subdirectory(base)" gives "base".
std::vector<std::string> subdirectories(const std::string& cmake) {
  std::vector<std::string> names;
  for (const auto& line : lines_of(cmake)) {
    constexpr std::string_view call = "add_subdirectory(";
    if (line.starts_with(call)) names.push_back(line.substr(call.size(), line.find(')') - call.size()));
  }
  return names;
}

void read_room(Tree& tree, const std::string& name) {
  auto words = cmake_arguments(read_file(tree.root / name / "CMakeLists.txt"), "farm_room");
  if (words.empty()) return;
  tree.rooms.push_back(name);
  tree.deps[name] = {name};
  std::string section;
  for (size_t i = 1; i < words.size(); ++i) {
    const auto& word = words[i];
    if (word == "DEPS" || word == "LINKS" || word == "TEST_LINKS") {
      section = word;
    } else if (section == "DEPS") {
      tree.deps[name].insert(word);
    } else if (section == "TEST_LINKS" && word.starts_with("farm_")) {
      tree.test_deps[name].insert(word.substr(5));
    }
  }
}

void read_sources(Tree& tree, const std::string& folder) {
  if (!fs::exists(tree.root / folder)) return;
  for (const auto& entry : fs::recursive_directory_iterator(tree.root / folder)) {
    if (!entry.is_regular_file() || !is_source(entry.path())) continue;
    SourceFile file;
    file.path = fs::relative(entry.path(), tree.root).generic_string();
    file.text = read_file(entry.path());
    file.includes = includes_of(file.text);
    tree.files.emplace(file.path, std::move(file));
  }
}

// Whether a word of a document means a path of this tree rather than a program, a type or a path elsewhere.
bool looks_like_path(const std::string& word, const Tree& tree) {
  if (word.find_first_of(" <>{}()*$=,;\"'") != std::string::npos || word.find("NNNN") != std::string::npos)
    return false;
  if (word.starts_with("/") || word.starts_with("~") || word.starts_with("-") ||
      word.find("://") != std::string::npos) {
    return false;
  }
  auto slash = word.find('/');
  if (slash == std::string::npos) return false;
  auto first = word.substr(0, slash);
  if (tree.is_room(first) || first == "docs") return true;
  for (auto folder : kAround) {
    if (first == folder) return true;
  }
  for (auto ending : {".h", ".cpp", ".md", ".cmake", ".sql", ".sh"}) {
    if (word.ends_with(ending)) return true;
  }
  return false;
}

// "./farm" is a command line's way to say "farm"; "schedule/" is a folder.
std::string normal(std::string word) {
  if (word.starts_with("./")) word = word.substr(2);
  while (!word.empty() && std::string_view("./:").find(word.back()) != std::string_view::npos) word.pop_back();
  return word;
}

}  // namespace

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> lines_of(const std::string& text) { return split(text, '\n'); }

std::vector<Include> includes_of(const std::string& text) {
  std::vector<Include> includes;
  int number = 0;
  for (const auto& line : lines_of(text)) {
    ++number;
    auto rest = trim(line);
    if (!rest.starts_with('#')) continue;
    rest = trim(rest.substr(1));
    if (!rest.starts_with("include")) continue;
    rest = trim(rest.substr(7));
    if (rest.size() < 3 || (rest[0] != '"' && rest[0] != '<')) continue;
    auto end = rest.find(rest[0] == '<' ? '>' : '"', 1);
    if (end != std::string_view::npos)
      includes.push_back({std::string(rest.substr(1, end - 1)), rest[0] == '<', number});
  }
  return includes;
}

std::set<std::string> paths_named(const std::string& markdown, const Tree& tree) {
  std::set<std::string> found;
  auto keep = [&](std::string word) {
    if (word = normal(word); looks_like_path(word, tree)) found.insert(word);
  };
  for (const auto& line : lines_of(markdown)) {
    auto pieces = split(line, '`');
    for (size_t i = 1; i < pieces.size(); i += 2) keep(pieces[i]);
    for (size_t at = line.find("]("); at != std::string::npos; at = line.find("](", at + 2)) {
      auto target = line.substr(at + 2, line.find(')', at) - at - 2);
      keep(target.substr(0, target.find('#')));
    }
  }
  return found;
}

Tree read_tree(const fs::path& root) {
  Tree tree;
  tree.root = root;
  for (const auto& name : subdirectories(read_file(root / "CMakeLists.txt"))) read_room(tree, name);
  for (const auto& room : tree.rooms) read_sources(tree, room);
  for (auto folder : kAround) read_sources(tree, folder);
  tree.deps["apps"] = {tree.rooms.begin(), tree.rooms.end()};
  tree.deps["apps"].insert("apps");
  return tree;
}

}  // namespace farm::house
