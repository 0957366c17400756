#include "base/log.h"

#include <cstdio>

#include "base/clock.h"
#include "base/text.h"

namespace farm {

static LogLevel g_level = LogLevel::Info;  // set by main before any thread starts

void set_log_level(LogLevel level) { g_level = level; }

static std::string quoted_if_needed(std::string_view value) {
  std::string safe = printable(value);
  return safe.find(' ') == std::string::npos && !safe.empty() ? safe : '"' + safe + '"';
}

void log_event(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  if (level < g_level) return;
  constexpr const char* kNames[] = {"debug", "info", "warning", "error"};
  std::string line = utc_now_text() + " " + kNames[static_cast<int>(level)] + " " + std::string(event);
  for (const auto& [key, value] : fields) line += " " + std::string(key) + "=" + quoted_if_needed(value);
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);  // one write, so lines of several processes do not mix
}

}  // namespace farm
