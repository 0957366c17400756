#include "apps/cli.h"

#include <CLI/CLI.hpp>
#include <algorithm>
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

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> names_of(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  return names;
}

// "--json goes behind the command: tuning_db query --json", for a flag that stands before it.
std::optional<std::string> describe_early_flag(const CLI::App& app, const std::string& flag) {
  std::vector<const CLI::App*> possible = commands_of(app);
  std::erase_if(possible, [&](const CLI::App* command) { return !command->get_option_no_throw(flag); });
  if (possible.empty()) return std::nullopt;
  const auto chosen = app.get_subcommands();
  if (chosen.empty()) return flag + " goes behind a command: " + join(names_of(possible), ", ");
  if (std::ranges::find(possible, chosen.front()) == possible.end()) return std::nullopt;
  return flag + " goes behind the command: " + app.get_name() + " " + chosen.front()->get_name() + " " + flag;
}

// CLI11 tells of missing values first; a mistyped flag is the likelier cause, so it is named before them.
std::optional<std::string> describe_extras(const CLI::App& app) {
  std::vector<std::string> extras = app.remaining(true);
  if (extras.empty()) return std::nullopt;
  for (const std::string& extra : extras) {
    if (!extra.starts_with("-")) continue;
    std::string flag = extra.substr(0, extra.find('='));
    if (auto early = describe_early_flag(app, flag)) return early;
    std::vector<std::string> names;
    collect_flags(app, names);
    return "unknown flag " + printable(flag) + did_you_mean(flag, names);
  }
  std::vector<std::string> names = names_of(commands_of(app));
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

// "--port: 1 required UINT missing" becomes "--port needs a value", "--port: At Most 1 required but received 2" becomes
// "--port is given 2 times; once is possible".
std::string describe_mismatch(const std::string& text) {
  constexpr std::string_view kMissing = ": 1 required ", kTooMany = ": At Most 1 required but received ";
  if (size_t name = text.find(kMissing); name != std::string::npos) return text.substr(0, name) + " needs a value";
  size_t name = text.find(kTooMany);
  if (name == std::string::npos) return text;
  return text.substr(0, name) + " is given " + text.substr(name + kTooMany.size()) + " times; once is possible";
}

std::string describe(const CLI::App& app, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::ConversionError*>(&error)) return describe_conversion(error.what());
  if (dynamic_cast<const CLI::ValidationError*>(&error)) return describe_range(error.what());
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error)) return describe_mismatch(error.what());
  bool may_hide_extras =
      dynamic_cast<const CLI::RequiredError*>(&error) || dynamic_cast<const CLI::ExtrasError*>(&error);
  if (auto extras = may_hide_extras ? describe_extras(app) : std::nullopt) return *extras;
  std::string text = error.what();
  if (text == "A subcommand is required")
    return "no command given; commands: " + join(names_of(commands_of(app)), ", ");
  for (char& c : text) c = c == '\n' ? ' ' : c;
  if (text.size() > 1 && text[1] >= 'a' && text[1] <= 'z') text[0] = static_cast<char>(std::tolower(text[0]));
  return std::string(trim(text));
}

const CLI::App& innermost(const CLI::App& app) {
  auto chosen = app.get_subcommands();
  return chosen.empty() ? app : innermost(*chosen.front());
}

// What was parsed
// ---------------------------------------------------------------------------------------------------

void add_version(CLI::App& app, const std::string& version) {
  if (!app.get_version_ptr()) app.set_version_flag("--version", version, "Print the version and exit");
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) add_version(*command, version);
}

bool takes_value(const CLI::App& app, const std::string& flag) {
  const CLI::Option* option = app.get_option_no_throw(flag);
  if (option) return option->get_expected_max() > 0;
  return std::ranges::any_of(commands_of(app), [&](const CLI::App* command) { return takes_value(*command, flag); });
}

/// The words behind the program's name. CLI11 would take the next word as the value of "--db=", so that becomes two.
std::vector<std::string> words_of(int argc, const char* const* argv, const CLI::App& app) {
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    std::string& word = words.emplace_back(argv[i]);
    if (!word.starts_with("--") || !word.ends_with('=') || !takes_value(app, word.substr(0, word.size() - 1))) continue;
    word.pop_back();
    words.emplace_back();
  }
  return words;
}

/// No option means anything by an empty text: it is a variable of a script that was not set.
Status refuse_empty_values(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options())
    for (const std::string& value : option->results())
      if (value.empty()) return fail(ErrorCode::InvalidArgument, option->get_name(), " is empty; a value is wanted");
  for (const CLI::App* chosen : app.get_subcommands()) FARM_CHECK(refuse_empty_values(*chosen));
  return {};
}

/// What stands before a command that does not know it would be passed over in silence.
Status refuse_unused_options(const CLI::App& app) {
  for (const CLI::App* chosen : app.get_subcommands())
    for (const CLI::Option* option : app.get_options())
      if (option->count() > 0 && !chosen->get_option_no_throw(option->get_name()))
        return fail(ErrorCode::InvalidArgument, option->get_name(), " does not go with ", chosen->get_name());
  return {};
}

}  // namespace

Result<ParsedCommandLine> try_parse_command_line(CLI::App& app, int argc, const char* const* argv) {
  std::string version = app.get_name() + " " + FARM_VERSION;
  add_version(app, version);
  try {
    std::vector<std::string> words = words_of(argc, argv, app);
    std::ranges::reverse(words);  // as CLI11 wants them
    app.parse(std::move(words));
    FARM_CHECK(refuse_empty_values(app));
    FARM_CHECK(refuse_unused_options(app));
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
