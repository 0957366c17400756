// What every program's command line shares: --version, one-line errors with the nearest names, exit codes.
//
//   CLI::App app("Waits for devices and hands them out", "tracker");
//   app.add_option("--port", port, "...");
//   if (auto code = parse_command_line(app, argc, argv)) return *code;
//   ...
//   if (!status) return report_error("tracker", status.error());
#pragma once
#include <optional>
#include <string_view>

#include "base/result.h"

namespace CLI {
class App;
}

namespace farm {

/// Adds --version and parses. Nothing: go on. 0: --help or --version was printed. 2: one line about the mistake was
/// printed on standard error: "tracker: unknown flag --prot (did you mean --port?)".
std::optional<int> parse_command_line(CLI::App& app, int argc, const char* const* argv);

/// The same without printing a mistake: Ok, the text of --help or --version, or InvalidArgument.
struct ParsedCommandLine {
  bool go_on = false;
  std::string text;  ///< for standard output when it should not go on
};
Result<ParsedCommandLine> try_parse_command_line(CLI::App& app, int argc, const char* const* argv);

/// Prints "program: message" on standard error; returns the exit code of the error.
int report_error(std::string_view program, const Error& error);

}  // namespace farm
