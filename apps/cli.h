// What every program's command line shares: --version, one-line errors with the nearest names, exit codes.
//
//   CLI::App app("Waits for devices and hands them out", "tracker");
//   app.add_option("--port", port, "...");
//   if (auto code = parse_command_line(app, argc, argv)) return *code;
//   ...
//   if (!status) return report_error("tracker", status.error());
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace farm {

/// Prepares the standard streams, adds --version and parses. Nothing: go on. 0: --help or --version was printed. 2: one
/// line about the mistake was printed on standard error: "tracker: unknown flag --prot (did you mean --port?)".
std::optional<int> parse_command_line(CLI::App& app, int argc, const char* const* argv);

/// The same without printing a mistake: Ok, the text of --help or --version, or InvalidArgument.
struct ParsedCommandLine {
  bool go_on = false;
  std::string text;  ///< for standard output when it should not go on
};
Result<ParsedCommandLine> try_parse_command_line(CLI::App& app, int argc, const char* const* argv);

/// The option takes decimal whole numbers from `least` to `most`; every other value is a mistake:
/// "--port is '99999'; a whole number from 0 to 65535 is wanted". All numeric options say their range in this way.
CLI::Option* in_range(CLI::Option* option, uint64_t least, uint64_t most);

inline constexpr uint64_t kMostThreads = 4096;  ///< of --threads; more than any board has cores

/// Prints "program: message" on standard error, nothing when the message is empty; returns the exit code of the error.
int report_error(std::string_view program, const Error& error);

}  // namespace farm
