#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

namespace farm {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  if (text.empty()) return pieces;
  for (;;) {
    size_t at = text.find(separator);
    pieces.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return pieces;
    text.remove_prefix(at + 1);
  }
}

std::string join(const std::vector<std::string>& pieces, std::string_view separator) {
  return fmt::format("{}", fmt::join(pieces, separator));
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

template <class Number>
static std::optional<Number> parse_whole(std::string_view text) {
  Number value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<int64_t> parse_int(std::string_view text) { return parse_whole<int64_t>(text); }
std::optional<double> parse_double(std::string_view text) { return parse_whole<double>(text); }

std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  if (text.empty()) return std::nullopt;
  double seconds = 0;
  while (!text.empty()) {
    size_t digits = text.find_first_not_of("0123456789.");
    auto value = parse_double(text.substr(0, digits));
    if (!value) return std::nullopt;
    text.remove_prefix(digits == std::string_view::npos ? text.size() : digits);
    size_t letters = std::min(text.find_first_of("0123456789."), text.size());
    std::string_view unit = text.substr(0, letters);
    text.remove_prefix(letters);
    double scale = unit == "ms" ? 1e-3 : unit == "s" || unit.empty() ? 1 : unit == "m" || unit == "min" ? 60 : unit == "h" ? 3600 : -1;
    if (scale < 0) return std::nullopt;
    seconds += *value * scale;
  }
  if (!(seconds >= 0 && seconds < 1e9)) return std::nullopt;
  return std::chrono::nanoseconds(static_cast<int64_t>(seconds * 1e9));
}

std::string format_duration(std::chrono::nanoseconds duration) {
  double seconds = std::chrono::duration<double>(duration).count();
  auto whole = static_cast<int64_t>(seconds + 0.5);
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string format_latency(double latency_ns) {
  constexpr const char* kUnits[] = {"ns", "us", "ms", "s"};
  size_t unit = 0;
  double value = latency_ns;
  for (; value >= 999.95 && unit + 1 < std::size(kUnits); ++unit) value /= 1000;  // what is below rounds to 999.9
  return fmt::format("{:.{}f} {}", value, value < 9.9995 ? 3 : value < 99.995 ? 2 : 1, kUnits[unit]);
}

// Damerau-Levenshtein without the transposition of pieces: enough for typing slips.
static size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) next[j] = std::min(next[j], before[j - 2] + 1);
    }
    before = row;
    row = next;
  }
  return row[b.size()];
}

std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& names, size_t at_most) {
  std::vector<std::pair<size_t, std::string>> scored;
  for (const auto& name : names) {
    size_t distance = edit_distance(word, name);
    bool contains = word.size() >= 3 && (name.find(word) != std::string::npos || (name.size() >= 3 && word.find(name) != std::string_view::npos));
    if (distance <= std::max<size_t>(1, name.size() / 3) || contains) scored.emplace_back(distance, name);
  }
  std::sort(scored.begin(), scored.end());
  std::vector<std::string> best;
  for (size_t i = 0; i < std::min(at_most, scored.size()); ++i) best.push_back(scored[i].second);
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& names) {
  auto close = nearest(word, names);
  return close.empty() ? "" : " (did you mean " + join(close, ", ") + "?)";
}

std::string printable(std::string_view text) {
  std::string safe;
  for (unsigned char c : text) {
    if (c < 0x20 || c == 0x7f) safe += fmt::format("\\x{:02x}", c);
    else safe += static_cast<char>(c);
  }
  return safe;
}

/// Bytes of the well-formed UTF-8 character at the front; 0 when there is none. RFC 3629, section 4.
static size_t character_bytes(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(i < text.size() ? text[i] : 0); };
  auto follows = [&](size_t i) { return byte(i) >> 6 == 2; };
  unsigned char first = byte(0), second = byte(1);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    bool possible = first == 0xe0 ? second >= 0xa0 : first != 0xed || second < 0xa0;  // neither overlong nor a surrogate
    return possible && follows(1) && follows(2) ? 3 : 0;
  }
  if (first < 0xf0 || first > 0xf4) return 0;
  bool possible = first == 0xf0 ? second >= 0x90 : first != 0xf4 || second < 0x90;
  return possible && follows(1) && follows(2) && follows(3) ? 4 : 0;
}

std::string json_quoted(std::string_view text) {
  std::string quoted = "\"";
  while (!text.empty()) {
    size_t bytes = character_bytes(text);
    auto c = static_cast<unsigned char>(text.front());
    if (bytes == 0) {
      quoted += "\\ufffd";
    } else if (c == '"' || c == '\\') {
      quoted += {'\\', text.front()};
    } else if (c < 0x20) {
      quoted += fmt::format("\\u{:04x}", c);
    } else {
      quoted += text.substr(0, bytes);
    }
    text.remove_prefix(std::max<size_t>(bytes, 1));
  }
  return quoted + '"';
}

}  // namespace farm
