// One event, one line, key=value, on standard error. Progress is not log text.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace farm {

enum class LogLevel { Debug, Info, Warning, Error };

/// Lines below this level are dropped; Info until told otherwise. Set once by main.
void set_log_level(LogLevel level);

using LogField = std::pair<std::string_view, std::string>;

/// log_event(LogLevel::Info, "lease_granted", {{"device", id}, {"epoch", std::to_string(epoch)}});
/// prints  2026-11-30T21:22:08Z info lease_granted device=rk3399-1 epoch=7
void log_event(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});

}  // namespace farm
