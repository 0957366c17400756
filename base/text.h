// Small helpers on text that every room needs; formatting itself is libfmt's work.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace farm {

/// Pieces between separators; an empty text gives no piece, "a,,b" gives an empty one in the middle.
std::vector<std::string> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& pieces, std::string_view separator);
std::string_view trim(std::string_view text);

/// Whole-text numbers: "12" gives 12, "12x", "" and " 12" give nothing.
std::optional<int64_t> parse_int(std::string_view text);
std::optional<double> parse_double(std::string_view text);

/// "90s", "10m", "1h30m", "500ms", "20" (seconds); nothing when it is no duration or is negative.
std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text);
/// "1 h 04 min", "3 min 20 s", "12 s", "0.4 s"
std::string format_duration(std::chrono::nanoseconds duration);
/// What a kernel takes, four digits in the unit that suits it: "1.234 s", "12.34 ms", "549.0 us", "48.25 ns".
std::string format_latency(double latency_ns);

/// The names nearest to a mistyped word, best first, none that shares too little with it.
std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& names, size_t at_most = 3);
/// " (did you mean a, b?)" or "".
std::string did_you_mean(std::string_view word, const std::vector<std::string>& names);

/// Control characters as \xNN, so that a hostile name cannot drive a terminal.
std::string printable(std::string_view text);

/// The text as a JSON string with its quotes; what is no UTF-8 becomes U+FFFD, so that a document stays readable.
std::string json_quoted(std::string_view text);

}  // namespace farm
