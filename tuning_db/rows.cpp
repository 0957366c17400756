#include "tuning_db/rows.h"

#include "base/bytes.h"
#include "tuning_db/record_json.h"

namespace farm {

// One order for insert and select; `id` is in front of it when a row is read.
const char* const kInsertSql =
    "INSERT INTO records (hash, task, op, target, threads, policy, device_key, role, outcome, latency_ns, candidate, "
    "program, spent_ns, time,"
    " body, samples) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(hash) DO NOTHING";
const char* const kRowColumns =
    "id, hash, task, op, target, threads, policy, device_key, role, outcome, latency_ns, candidate, program, spent_ns, "
    "time, body, samples"
    " FROM records";

static std::string op_of(const std::string& task) { return task.substr(0, task.find('(')); }
static std::span<const std::byte> bytes_of(const Hash& hash) { return std::as_bytes(std::span(hash.bytes)); }

void bind_record(Statement& insert, const Record& record) {
  const Measurement& m = record.measurement;
  ByteWriter samples;
  for (float sample : m.samples_ns) samples.f32(sample);

  int at = 0;
  insert.bind(at++, bytes_of(record_hash(record)));
  insert.bind(at++, record.key.task);
  insert.bind(at++, op_of(record.key.task));
  insert.bind(at++, record.key.target);
  insert.bind(at++, int64_t{record.key.threads});
  insert.bind(at++, record.key.policy);
  insert.bind(at++, record.device_key);
  insert.bind(at++, to_string(record.role));
  insert.bind(at++, to_string(m.outcome));
  m.outcome == Outcome::Ok ? insert.bind(at++, m.latency_ns) : insert.bind_null(at++);
  insert.bind(at++, record.candidate);
  record.program == Hash{} ? insert.bind_null(at++) : insert.bind(at++, bytes_of(record.program));
  insert.bind(at++, record.spent_ns);
  insert.bind(at++, record.time);
  insert.bind(at++, body_from_record(record));
  insert.bind(at++, samples.view());
}

/// The first column that does not say what the content says, or "".
static std::string disagreeing_column(const Statement& row, const Record& record) {
  const Measurement& m = record.measurement;
  if (row.text(2) != record.key.task) return "task";
  if (row.text(3) != op_of(record.key.task)) return "op";
  if (row.text(4) != record.key.target) return "target";
  if (row.integer(5) != record.key.threads) return "threads";
  if (row.text(6) != record.key.policy) return "policy";
  if (row.text(7) != record.device_key) return "device_key";
  if (row.text(8) != to_string(record.role)) return "role";
  if (row.text(9) != to_string(m.outcome)) return "outcome";
  if (row.is_null(10) != (m.outcome != Outcome::Ok) || row.real(10) != m.latency_ns) return "latency_ns";
  if (row.text(11) != record.candidate) return "candidate";
  if (row.is_null(12) != (record.program == Hash{})) return "program";
  if (!row.is_null(12) && !std::ranges::equal(row.blob(12), bytes_of(record.program))) return "program";
  if (row.integer(13) != record.spent_ns) return "spent_ns";
  if (row.text(14) != record.time) return "time";
  return "";
}

Result<Record> record_from_content(std::string_view body, std::span<const std::byte> samples,
                                   std::span<const std::byte> hash) {
  FARM_TRY(Record record, record_from_body(body));
  ByteReader times(samples);
  while (times.left() >= sizeof(float)) record.measurement.samples_ns.push_back(times.f32());
  if (!std::ranges::equal(hash, bytes_of(record_hash(record))) || times.left() != 0)
    return fail(ErrorCode::Corrupt, "its content does not match its hash");
  return record;
}

Result<Record> record_from_row(const Statement& row) {
  FARM_TRY(Record record, record_from_content(row.text(15), row.blob(16), row.blob(1)));
  std::string column = disagreeing_column(row, record);
  if (!column.empty()) return fail(ErrorCode::Corrupt, "its column ", column, " does not match its content");
  return record;
}

// Filters ----------------------------------------------------------------------------------------------------------

static void add(Where& where, const std::string& condition, std::initializer_list<std::string> texts) {
  where.sql += (where.sql.empty() ? " WHERE " : " AND ") + condition;
  where.texts.insert(where.texts.end(), texts);
}

static void add_any_of(Where& where, const std::vector<std::string>& tasks) {
  std::string marks;
  for (size_t i = 0; i < tasks.size(); ++i) marks += i == 0 ? "?" : ", ?";
  where.sql += (where.sql.empty() ? " WHERE " : " AND ") + ("task IN (" + marks + ")");
  where.texts.insert(where.texts.end(), tasks.begin(), tasks.end());
}

Where where_from_filter(const RecordFilter& filter) {
  Where where;
  if (filter.task) add(where, "task = ?", {*filter.task});
  if (!filter.tasks.empty()) add_any_of(where, filter.tasks);
  if (filter.op) add(where, "op = ?", {*filter.op});
  if (filter.target)  // the whole text, the part before or behind its slash, or the queue's label
    add(where,
        "(target = ? OR substr(target, 1, instr(target, '/') - 1) = ? OR substr(target, instr(target, '/') + 1) = ? OR "
        "device_key = ?)",
        {*filter.target, *filter.target, *filter.target, *filter.target});
  if (filter.threads) add(where, "threads = CAST(? AS INTEGER)", {std::to_string(*filter.threads)});
  if (filter.policy) add(where, "policy = ?", {*filter.policy});
  if (filter.role) add(where, "role = ?", {to_string(*filter.role)});
  if (filter.only_ok) add(where, "outcome = 'ok'", {});
  return where;
}

void Where::bind(Statement& statement, int first) const {
  for (const std::string& text : texts) statement.bind(first++, text);
}

}  // namespace farm
