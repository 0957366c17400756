#include "apps/cli.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>

#include "apps/standard_output.h"
#include "base/text.h"

namespace farm {
namespace {

void collect_flags(const CLI::App& app, std::vector<std::string>& names) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  for (const CLI::App* chosen : app.get_subcommands()) collect_flags(*chosen, names);
}

std::vector<std::string> subcommand_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_name().empty()) names.push_back(command->get_name());
  }
  return names;
}

// CLI11 tells of missing values first; a mistyped flag is the likelier cause, so it is named before them.
std::optional<std::string> describe_extras(const CLI::App& app) {
  std::vector<std::string> extras = app.remaining(true);
  if (extras.empty()) return std::nullopt;
  for (const std::string& extra : extras) {
    if (!extra.starts_with("-")) continue;
    std::string flag = extra.substr(0, extra.find('='));
    std::vector<std::string> names;
    collect_flags(app, names);
    return "unknown flag " + printable(flag) + did_you_mean(flag, names);
  }
  std::vector<std::string> names = subcommand_names(app);
  if (names.empty() || !app.get_subcommands().empty()) return "unexpected argument " + printable(extras.front());
  std::string hint = did_you_mean(extras.front(), names);
  return "unknown command " + printable(extras.front()) + (hint.empty() ? "; commands: " + join(names, ", ") : hint);
}

// "Could not convert: --json = x" becomes "--json is 'x'; it takes no value": only flags get here, see in_range.
std::string describe_conversion(const std::string& what) {
  size_t colon = what.find(": "), equals = what.find(" = ");
  if (colon == std::string::npos || equals == std::string::npos) return what;
  return what.substr(colon + 2, equals - colon - 2) + " is '" + printable(what.substr(equals + 3)) +
         "'; it takes no value";
}

// "--port: '99999'; ..." of in_range becomes "--port is '99999'; ...".
std::string describe_range(std::string text) {
  size_t value = text.find(": '");
  return value == std::string::npos ? text : text.replace(value, 1, " is");
}

// "--port: 1 required UINT missing" becomes "--port needs a value".
std::string describe_mismatch(const std::string& text) {
  size_t name = text.find(": 1 required ");
  return name == std::string::npos ? text : text.substr(0, name) + " needs a value";
}

std::string describe(const CLI::App& app, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::ConversionError*>(&error)) return describe_conversion(error.what());
  if (dynamic_cast<const CLI::ValidationError*>(&error)) return describe_range(error.what());
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error)) return describe_mismatch(error.what());
  bool may_hide_extras =
      dynamic_cast<const CLI::RequiredError*>(&error) || dynamic_cast<const CLI::ExtrasError*>(&error);
  if (auto extras = may_hide_extras ? describe_extras(app) : std::nullopt) return *extras;
  std::string text = error.what();
  if (text == "A subcommand is required") return "no command given; commands: " + join(subcommand_names(app), ", ");
  for (char& c : text) c = c == '\n' ? ' ' : c;
  if (text.size() > 1 && text[1] >= 'a' && text[1] <= 'z') text[0] = static_cast<char>(std::tolower(text[0]));
  return std::string(trim(text));
}

const CLI::App& innermost(const CLI::App& app) {
  auto chosen = app.get_subcommands();
  return chosen.empty() ? app : innermost(*chosen.front());
}

}  // namespace

Result<ParsedCommandLine> try_parse_command_line(CLI::App& app, int argc, const char* const* argv) {
  std::string version = app.get_name() + " " + FARM_VERSION;
  if (!app.get_version_ptr()) app.set_version_flag("--version", version, "Print the version and exit");
  try {
    app.parse(argc, argv);
    return ParsedCommandLine{.go_on = true};
  } catch (const CLI::CallForHelp&) {
    const CLI::App& asked = innermost(app);
    return ParsedCommandLine{.text = &asked == &app ? app.help() : asked.help(app.get_name())};
  } catch (const CLI::CallForAllHelp&) {
    return ParsedCommandLine{.text = app.help("", CLI::AppFormatMode::All)};
  } catch (const CLI::CallForVersion&) {
    return ParsedCommandLine{.text = version + "\n"};
  } catch (const CLI::ParseError& error) {
    return fail(ErrorCode::InvalidArgument, describe(app, error));
  }
}

std::optional<int> parse_command_line(CLI::App& app, int argc, const char* const* argv) {
  prepare_standard_streams();
  auto parsed = try_parse_command_line(app, argc, argv);
  if (!parsed) return report_error(app.get_name(), parsed.error());
  if (parsed->go_on) return std::nullopt;
  auto printed = print(parsed->text);
  return printed ? 0 : report_error(app.get_name(), printed.error());
}

CLI::Option* in_range(CLI::Option* option, uint64_t least, uint64_t most) {
  auto take = [least, most](std::string& text) -> std::string {
    uint64_t value = 0;
    const char* text_end = text.data() + text.size();
    auto [end, error] = std::from_chars(text.data(), text_end, value);
    if (error != std::errc{} || end != text_end || value < least || value > most)
      return "'" + printable(text) + "'; a whole number from " + std::to_string(least) + " to " + std::to_string(most) +
             " is wanted";
    text = std::to_string(value);  // CLI11 would read 010 as eight
    return "";
  };
  return option->transform(CLI::Validator(take, ""));
}

int report_error(std::string_view program, const Error& error) {
  if (!error.message.empty()) std::fprintf(stderr, "%s: %s\n", std::string(program).c_str(), error.message.c_str());
  return exit_code(error.code);
}

}  // namespace farm
