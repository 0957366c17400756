#include "tuning_db/scan.h"

#include <algorithm>

namespace farm {

/// NOT INDEXED: a damaged index must not hide rows, and the order of insertion needs the table anyway.
static Result<Statement> rows_in_order(const Connection& connection, const RecordFilter& filter, Order order) {
  Where where = where_from_filter(filter);
  FARM_TRY(Statement rows, connection.prepare(std::string("SELECT ") + kRowColumns + " NOT INDEXED" + where.sql +
                                              " ORDER BY id" + (order == Order::NewestFirst ? " DESC" : "")));
  where.bind(rows);
  return rows;
}

/// Of a row whose hash was found to be right.
static RowName name_of(const Statement& row) {
  RowName name{row.integer(0), {}};
  std::ranges::copy(row.blob(1), std::as_writable_bytes(std::span(name.hash.bytes)).begin());
  return name;
}

Result<Passage> read_rows(const Connection& connection, const RecordFilter& filter, Order order,
                          const std::function<bool(const Record&, const RowName&)>& each) {
  Passage passage;
  auto rows = rows_in_order(connection, filter, order);
  for (;;) {
    auto more = rows ? rows->step() : std::unexpected(rows.error());
    if (!more && more.error().code != ErrorCode::Corrupt) return std::unexpected(more.error());
    passage.torn = !more || (*more && rows->integer(0) < 1);  // no row was ever given such a number
    if (passage.torn || !*more) return passage;
    auto record = record_from_row(*rows);
    if (!record)
      passage.damaged.emplace_back(rows->integer(0), record.error().message);
    else if (!each(*record, name_of(*rows)))
      return passage;
  }
}

std::vector<std::string> lines_of(const Passage& passage) {
  std::vector<std::string> lines;
  for (const auto& [id, why] : passage.damaged) lines.push_back("record " + std::to_string(id) + ": " + why);
  return lines;
}

}  // namespace farm
