#include "tuning_db/damage.h"

#include <sqlite3.h>

#include <filesystem>

#include "base/text.h"

namespace farm {
namespace {

/// SQLite puts several findings into one text, under a title.
void add_findings(std::vector<std::string>& problems, std::string_view text) {
  for (const std::string& line : split(text, '\n'))
    if (!line.empty() && !line.starts_with("***") && line != "ok") problems.push_back(line);
}

/// For the shell that people use.
std::string quoted(const std::string& path) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+=:,@%";
  if (!path.empty() && path.find_first_not_of(kPlain) == std::string::npos) return path;
  return "'" + join(split(path, '\''), "'\\''") + "'";
}

}  // namespace

Result<std::vector<std::string>> structure_problems(const Connection& connection, Check check) {
  std::vector<std::string> problems;
  auto lines = connection.prepare(check == Check::Whole ? "PRAGMA integrity_check(20)" : "PRAGMA quick_check(1)");
  for (;;) {
    auto more = lines ? lines->step() : std::unexpected(lines.error());
    if (!more && more.error().code != ErrorCode::Corrupt) return std::unexpected(more.error());
    if (!more) problems.emplace_back(sqlite3_errmsg(connection.handle()));
    if (!more || !*more) return problems;
    add_findings(problems, lines->text(0));
  }
}

std::unexpected<Error> refuse_writing(const std::string& path, const std::string& why) {
  std::filesystem::path file(path);
  std::string stem = (file.parent_path() / file.stem()).string();
  std::string lines = quoted(stem + "-saved.jsonl"), saved = quoted(stem + "-saved.db");
  return fail(ErrorCode::Corrupt, "database ", path, " is damaged (", why,
              "), and writing could cost more of it; save its records with: tuning_db export --db ", quoted(path),
              " -o ", lines, " && tuning_db import --db ", saved, " ", lines);
}

}  // namespace farm
