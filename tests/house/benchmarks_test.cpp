// docs/JSON.md names every field that a benchmark prints, and no other.
#include <regex>

#include "base/text.h"
#include "testing.h"
#include "tree.h"

namespace farm::house {
namespace {

std::set<std::string> matches(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  std::set<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at) found.insert((*at)[1]);
  return found;
}

/// `{"name", value}` of an initializer and `document["name"] = value`; two texts side by side are a list.
std::set<std::string> fields_written(const std::string& source) {
  std::set<std::string> fields = matches(source, R"re(\{"([a-z0-9_]+)",\s*[^"\s])re");
  fields.merge(matches(source, R"re(\["([a-z0-9_]+)"\](?: =|\.push_back))re"));
  return fields;
}

/// `"name": value`
std::set<std::string> fields_documented(const std::string& section) {
  return matches(section, R"re("([a-z0-9_]+)":)re");
}

std::string section_of(const std::string& document, const std::string& name) {
  size_t begin = document.find("\n### " + name + "\n");
  if (begin == std::string::npos) return "";
  size_t end = document.find("\n### ", begin + 1);
  return document.substr(begin, end == std::string::npos ? end : end - begin);
}

/// "benchmarks/peak_share.cpp" is called peak-share.
std::string name_of(const std::string& path) {
  std::string name = std::filesystem::path(path).stem();
  for (char& c : name) c = c == '_' ? '-' : c;
  return name;
}

}  // namespace

TEST_CASE("fields are found in a program and in a document, and lists are not taken for fields") {
  CHECK(fields_written(R"(x{{"one", 1}, {"two", y}}; z["three"] = 4; for (auto k : {"five", "six"}) q(w["seven"]);)") ==
        std::set<std::string>{"one", "two", "three"});
  CHECK(fields_documented(R"({"one": 1, "word", "two": "word"})") == std::set<std::string>{"one", "two"});
}

TEST_CASE("the fields of every benchmark's document are described, and only those") {
  const Tree tree = read_tree(HOUSE_ROOT);
  const std::string document = read_file(tree.root / "docs/JSON.md");
  const std::string passed_on = tree.files.at("apps/tune_report.cpp").text;  // what a run of tune says of itself
  std::vector<std::string> breaches;
  for (const auto& [path, file] : tree.files) {
    if (std::filesystem::path(path).parent_path() != "benchmarks" || !path.ends_with(".cpp")) continue;
    const std::string section = section_of(document, name_of(path));
    if (section.empty()) breaches.push_back(name_of(path) + " has no section");
    for (const auto& field : fields_written(file.text))
      if (!fields_documented(section).contains(field)) breaches.push_back(path + " prints " + field);
    for (const auto& field : fields_documented(section)) {
      const std::string literal = "\"" + field + "\"";
      const bool printed = file.text.find(literal) != std::string::npos || passed_on.find(literal) != std::string::npos;
      if (!printed) breaches.push_back(name_of(path) + " does not print " + field);
    }
  }
  INFO("\n  " + join(breaches, "\n  "));
  CHECK(breaches.empty());
}

}  // namespace farm::house
