#include "apps/cli.h"

#include <CLI/CLI.hpp>

#include "testing.h"

namespace farm {
namespace {

struct Line {
  int port = 0;
  bool json = false;
  std::string name;

  Result<ParsedCommandLine> parse(std::vector<const char*> words, bool name_required = false) {
    CLI::App app("A program", "tracker");
    in_range(app.add_option("--port", port, "port"), 0, 65535);
    auto* option = app.add_option("--name", name, "name");
    if (name_required) option->required();
    CLI::App* status = app.add_subcommand("status", "prints the status");
    status->add_flag("--json", json, "as JSON");
    words.insert(words.begin(), "tracker");
    return try_parse_command_line(app, static_cast<int>(words.size()), words.data());
  }
};

std::string message(const Result<ParsedCommandLine>& parsed) { return parsed ? "ok" : parsed.error().message; }

}  // namespace

TEST_CASE("a right command line is parsed and the program goes on") {
  Line line;
  auto parsed = line.parse({"--port", "9190"});
  REQUIRE(parsed);
  CHECK(parsed->go_on);
  CHECK(line.port == 9190);
}

TEST_CASE("a mistyped flag is named with its nearest neighbour and is a usage error") {
  Line line;
  auto parsed = line.parse({"--prot", "9190"});
  REQUIRE_FALSE(parsed);
  CHECK(parsed.error().message == "unknown flag --prot (did you mean --port?)");
  CHECK(exit_code(parsed.error().code) == 2);
  CHECK(message(line.parse({"status", "--jsno"})) == "unknown flag --jsno (did you mean --json?)");
  CHECK(message(line.parse({"--prot=1"})) == "unknown flag --prot (did you mean --port?)");
}

TEST_CASE("a mistyped flag is named before a missing one is asked for") {
  Line line;
  CHECK(message(line.parse({"--nmae", "x"}, true)) == "unknown flag --nmae (did you mean --name?)");
  CHECK(message(line.parse({}, true)) == "--name is required");
}

TEST_CASE("an unknown command names the ones that exist") {
  Line line;
  CHECK(message(line.parse({"statsu"})) == "unknown command statsu (did you mean status?)");
  CHECK(message(line.parse({"frobnicate"})) == "unknown command frobnicate; commands: status");
}

TEST_CASE("a flag that is on or off takes no other value") {
  Line line;
  CHECK(message(line.parse({"status", "--json=perhaps"})) == "--json is 'perhaps'; it takes no value");
}

TEST_CASE("a number is taken within its range, and everything else is told the range") {
  Line line;
  for (const char* value : {"0", "65535", "00080"}) CHECK(line.parse({"--port", value}));
  CHECK(line.port == 80);
  for (const std::string value : {"65536", "99999999999999999999", "-1", "x", "8.5", "0x50", ""})
    CHECK(message(line.parse({"--port", value.c_str()})) ==
          "--port is '" + value + "'; a whole number from 0 to 65535 is wanted");
}

TEST_CASE("a flag without its value says so") {
  Line line;
  CHECK(message(line.parse({"--port"})) == "--port needs a value");
}

TEST_CASE("an option given twice says so") {
  Line line;
  CHECK(message(line.parse({"--name", "a", "--name", "b"})) == "--name is given 2 times; once is possible");
}

TEST_CASE("an empty value is a mistake, however it is written, and never the next word") {
  Line line;
  CHECK(message(line.parse({"--name", ""})) == "--name is empty; a value is wanted");
  CHECK(message(line.parse({"--name=", "status"})) == "--name is empty; a value is wanted");
  CHECK(message(line.parse({"--name=a=", "status"})) == "--name does not go with status");
  CHECK(message(line.parse({"--name=a="})) == "ok");
  CHECK(line.name == "a=");
}

TEST_CASE("a flag that stands before its command is told its place, and none is passed over") {
  Line line;
  CHECK(message(line.parse({"--json", "status"})) == "--json goes behind the command: tracker status --json");
  CHECK(message(line.parse({"--json"})) == "--json goes behind a command: status");
  CHECK(message(line.parse({"--port", "1", "status"})) == "--port does not go with status");
}

TEST_CASE("help and version are texts, not errors") {
  Line line;
  auto version = line.parse({"--version"});
  REQUIRE(version);
  CHECK_FALSE(version->go_on);
  CHECK(version->text.starts_with("tracker "));
  CHECK(line.parse({"status", "--version"})->text == version->text);
  CHECK(line.parse({"status", "--help"})->text.find("--json") != std::string::npos);
}

}  // namespace farm
