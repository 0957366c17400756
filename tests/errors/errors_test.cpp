// Each wrong command with its exact words and its exit code. The cases are data: tests/errors/*.txt.
#include <unistd.h>

#include <map>

#include "base/text.h"
#include "target/target.h"
#include "tests/errors/fixtures.h"
#include "tests/programs.h"

namespace farm {
namespace {

struct ErrorCase {
  int line = 0;
  std::string title, command;
  std::vector<std::string> fixtures, set_up;
  int code = 0;
  std::string err;
};

/// A file is a list of cases:
///   # a comment
///   = what the case shows
///   with FIXTURE            a file that must be there, see fixtures.h
///   first COMMAND           must succeed before
///   $ COMMAND
///   > a line of standard error, exactly
///   exit CODE
std::vector<ErrorCase> read_cases(const std::string& path) {
  std::ifstream in(path);
  std::vector<ErrorCase> cases;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    auto rest = [&](std::string_view mark) { return line.substr(mark.size()); };
    if (line.starts_with("= "))
      cases.push_back({.line = number, .title = rest("= "), .command = {}, .fixtures = {}, .set_up = {}, .err = {}});
    if (cases.empty()) continue;
    ErrorCase& last = cases.back();
    if (line.starts_with("with ")) last.fixtures.push_back(rest("with "));
    if (line.starts_with("first ")) last.set_up.push_back(rest("first "));
    if (line.starts_with("$ ")) last.command = rest("$ ");
    if (line.starts_with("> ")) last.err += rest("> ") + "\n";
    if (line.starts_with("exit ")) last.code = std::stoi(rest("exit "));
  }
  return cases;
}

/// {pid}: this process, which holds the fixture's lock. {port}: where nobody listens. {tracker}: the fixture's port.
/// {cores}: of this machine, "2 cores"; {count}: how many.
std::string fill_in(std::string text, const Fixtures& fixtures) {
  const int cores = describe_host().cores;
  const std::map<std::string, std::string> words{
      {"{cores}", std::to_string(cores) + (cores == 1 ? " core" : " cores")},
      {"{count}", std::to_string(cores)},
      {"{pid}", std::to_string(getpid())},
      {"{port}", std::to_string(closed_port())},
      {"{tracker}", std::to_string(fixtures.tracker_port())}};
  for (const auto& [word, value] : words)
    for (size_t at; (at = text.find(word)) != std::string::npos;) text.replace(at, word.size(), value);
  return text;
}

void check_case(const ErrorCase& wanted) {
  ProgramFolder shell(ERRORS_BIN);
  Fixtures fixtures(shell);
  for (const std::string& name : wanted.fixtures) fixtures.make(name);
  for (const std::string& command : wanted.set_up) REQUIRE(shell(command).code == 0);
  size_t files = shell.files();
  ProgramResult got = shell(fill_in(wanted.command, fixtures));
  INFO(wanted.title << " (line " << wanted.line << "): " << wanted.command);
  CHECK(got.err == fill_in(wanted.err, fixtures));
  CHECK(got.code == wanted.code);
  CHECK(got.out == "");
  CHECK(shell.files() == files);  // a mistake leaves nothing behind
}

void check_file(const std::string& program) {
  auto cases = read_cases(ERRORS_CASES "/" + program + ".txt");
  REQUIRE(!cases.empty());
  for (const ErrorCase& one : cases) check_case(one);
}

}  // namespace

TEST_CASE("compile explains each mistake in one line") { check_file("compile"); }
TEST_CASE("tuning_db explains each mistake in one line") { check_file("tuning_db"); }
TEST_CASE("tune explains each mistake in one line") { check_file("tune"); }
TEST_CASE("tracker and rpc_server explain each mistake in one line") { check_file("tracker"); }

}  // namespace farm
