#include "apps/record_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace farm {
namespace {

constexpr size_t kColumns = 9;
using Line = std::array<std::string, kColumns>;

constexpr bool is_number(size_t column) { return column == 2 || (column >= 5 && column <= 7); }

Line line_of(const Record& record) {
  const Measurement& m = record.measurement;
  Line line = {record.key.task,
               record.key.target,
               std::to_string(record.key.threads),
               to_string(record.role),
               to_string(m.outcome),
               "-",
               "-",
               "-",
               record.candidate};
  if (m.outcome == Outcome::Ok) {
    double gflops = record.flops / m.latency_ns;
    line[5] = format_latency(m.latency_ns);
    if (record.flops > 0) line[6] = fmt::format("{:.1f}", gflops);
    if (record.flops > 0 && record.peak_gflops > 0)
      line[7] = fmt::format("{:.0f} %", 100 * gflops / record.peak_gflops);
  }
  for (std::string& cell : line) cell = printable(cell);
  return line;
}

}  // namespace

std::string record_table(const std::vector<Record>& records) {
  if (records.empty()) return "";
  std::vector<Line> lines = {
      {"task", "target", "threads", "role", "outcome", "latency", "GFLOP/s", "peak", "candidate"}};
  for (const Record& record : records) lines.push_back(line_of(record));

  std::array<size_t, kColumns> widths{};
  for (const Line& line : lines)
    for (size_t column = 0; column < kColumns; ++column) widths[column] = std::max(widths[column], line[column].size());

  std::string table;
  for (const Line& line : lines) {
    for (size_t column = 0; column + 1 < kColumns; ++column)
      table += is_number(column) ? fmt::format("{:>{}}  ", line[column], widths[column])
                                 : fmt::format("{:<{}}  ", line[column], widths[column]);
    table += line.back() + "\n";
  }
  return table;
}

}  // namespace farm
