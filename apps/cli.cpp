#include "apps/cli.h"

#include <CLI/CLI.hpp>
#include <cstdio>

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

const CLI::Option* find_option(const CLI::App& app, const std::string& name) {
  if (const CLI::Option* option = app.get_option_no_throw(name)) return option;
  for (const CLI::App* chosen : app.get_subcommands()) {
    if (const CLI::Option* option = find_option(*chosen, name)) return option;
  }
  return nullptr;
}

// "Could not convert: --port = x" becomes "--port is x; a whole number is wanted".
std::string describe_conversion(const CLI::App& app, const std::string& what) {
  size_t colon = what.find(": "), equals = what.find(" = ");
  if (colon == std::string::npos || equals == std::string::npos) return what;
  std::string name = what.substr(colon + 2, equals - colon - 2), value = what.substr(equals + 3);
  const CLI::Option* option = find_option(app, name);
  std::string type = option ? option->get_type_name() : "";
  std::string wanted = type.starts_with("UINT")    ? "a whole number, 0 or more,"
                       : type.starts_with("INT")   ? "a whole number"
                       : type.starts_with("FLOAT") ? "a number"
                                                   : "another value";
  return name + " is '" + printable(value) + "'; " + wanted + " is wanted";
}

std::string describe(const CLI::App& app, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::ConversionError*>(&error)) return describe_conversion(app, error.what());
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
  auto parsed = try_parse_command_line(app, argc, argv);
  if (!parsed) return report_error(app.get_name(), parsed.error());
  if (parsed->go_on) return std::nullopt;
  std::fputs(parsed->text.c_str(), stdout);
  return 0;
}

int report_error(std::string_view program, const Error& error) {
  std::string line = std::string(program) + ": " + error.message + "\n";
  std::fputs(line.c_str(), stderr);
  return exit_code(error.code);
}

}  // namespace farm
