// Files that were damaged by others: what can be read is read, what cannot is named.
#include <sqlite3.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "tuning_db/test_records.h"

namespace farm {

static std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

static void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

static void execute(const std::string& path, const char* sql) {
  sqlite3* handle = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &handle) == SQLITE_OK);
  CHECK(sqlite3_exec(handle, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(handle);
}

static void fill(const std::string& path, int count) {
  std::vector<Record> records;
  for (int i = 1; i <= count; ++i) records.push_back(make_record(1000 + i));
  CHECK(open_for_test(path)->append(records) == size_t(count));
}

/// The candidates that can be read, as numbers.
static std::vector<int> readable(RecordStore& store, std::vector<std::string>& damaged) {
  std::vector<int> numbers;
  auto report = store.scan({}, [&](const Record& record) {
    numbers.push_back(int(record.measurement.samples_ns.at(2)) - 1000);
    return true;
  });
  REQUIRE(report.has_value());
  damaged = report->damaged;
  return numbers;
}

TEST_CASE("a record with a flipped byte is skipped and named, the others are read") {
  TempFolder folder;
  std::string path = folder.file("t.db");
  fill(path, 5);
  std::string bytes = read_file(path);
  // Inside the body's trace: nothing but the hash can tell.
  size_t record = bytes.find("tile_x=1003"), at = bytes.find("vectorize", record);
  REQUIRE(at != std::string::npos);
  bytes[at] ^= 1;
  write_file(path, bytes);

  std::vector<std::string> damaged;
  CHECK(readable(*open_for_test(path, OpenMode::ReadOnly), damaged) == std::vector<int>{1, 2, 4, 5});
  CHECK(damaged == std::vector<std::string>{"record 3: its content does not match its hash"});
}

TEST_CASE("a column that contradicts the content is damage, and best takes the next record") {
  TempFolder folder;
  std::string path = folder.file("t.db");
  fill(path, 3);
  execute(path, "UPDATE records SET latency_ns = 1 WHERE id = 2");
  auto store = open_for_test(path, OpenMode::ReadOnly);
  std::vector<std::string> damaged;
  CHECK(readable(*store, damaged) == std::vector<int>{1, 3});
  CHECK(damaged == std::vector<std::string>{"record 2: its column latency_ns does not match its content"});
  CHECK(store->best({})->at(0).candidate == make_record(1001).candidate);
}

TEST_CASE("a page of garbage costs the records on it and no others") {
  TempFolder folder;
  std::string path = folder.file("t.db");
  fill(path, 60);
  std::string bytes = read_file(path);
  size_t page = bytes.find("tile_x=1030") / 4096 * 4096;
  std::fill_n(bytes.begin() + long(page), 4096, char(0x5a));
  write_file(path, bytes);

  auto store = open_for_test(path, OpenMode::ReadOnly);
  std::vector<std::string> damaged;
  std::vector<int> numbers = readable(*store, damaged);
  CHECK(numbers.size() >= 55);
  CHECK(numbers.size() < 60);
  CHECK(std::count(numbers.begin(), numbers.end(), 30) == 0);
  CHECK(numbers.front() == 1);
  CHECK(numbers.back() == 60);
  REQUIRE(damaged.size() == 1);
  CHECK(damaged[0].starts_with("record"));
  CHECK(damaged[0].ends_with("is damaged: database disk image is malformed"));
  CHECK_FALSE(store->check_structure()->empty());
}

TEST_CASE("a file whose end is missing gives the records that are left") {
  TempFolder folder;
  std::string path = folder.file("t.db");
  fill(path, 60);
  std::string bytes = read_file(path);
  write_file(path, bytes.substr(0, bytes.find("tile_x=1040") / 4096 * 4096));
  auto store = open_store(path, OpenMode::ReadOnly);
  REQUIRE(store.has_value());
  std::vector<std::string> damaged;
  std::vector<int> numbers = readable(**store, damaged);
  CHECK(numbers.size() >= 10);
  CHECK_FALSE(damaged.empty());
}

TEST_CASE("a whole file has no damage to report") {
  TempFolder folder;
  fill(folder.file("t.db"), 20);
  CHECK(open_for_test(folder.file("t.db"), OpenMode::ReadOnly)->check_structure()->empty());
}

TEST_CASE("nobody writes into a file whose structure is damaged") {
  TempFolder folder;
  std::string path = folder.file("t.db");
  fill(path, 20);
  std::string bytes = read_file(path);
  size_t page = bytes.find("tile_x=1010") / 4096 * 4096;
  std::fill_n(bytes.begin() + long(page), 4096, char(0));
  write_file(path, bytes);
  auto writer = open_store(path, OpenMode::ReadWrite);
  REQUIRE_FALSE(writer.has_value());
  CHECK(writer.error().code == ErrorCode::Corrupt);
  CHECK(writer.error().message.ends_with("; save what can be read with: tuning_db export --db " + path));
}

TEST_CASE("a database of a newer version is refused by name") {
  TempFolder folder;
  std::string path = folder.file("t.db");
  fill(path, 1);
  execute(path, "PRAGMA user_version = 3");
  for (OpenMode mode : {OpenMode::ReadOnly, OpenMode::ReadWrite}) {
    CHECK(open_store(path, mode).error() ==
          Error{ErrorCode::Unavailable, "database " + path +
                                            " is of version 3, this program reads up to 1; use a newer program or "
                                            "choose another with --db"});
    CHECK(folder.files() == std::vector<std::string>{"t.db"});
  }
}

TEST_CASE("a reader leaves nothing beside a file, whatever it thinks of it") {
  TempFolder folder;
  std::string path = folder.file("t.db");
  execute(path, "PRAGMA journal_mode = WAL; CREATE TABLE records (id INTEGER)");
  CHECK_FALSE(open_store(path, OpenMode::ReadOnly));
  CHECK(folder.files() == std::vector<std::string>{"t.db"});
}

TEST_CASE("another program's database is refused by name") {
  TempFolder folder;
  std::string path = folder.file("t.db");
  execute(path, "CREATE TABLE records (id INTEGER)");
  for (OpenMode mode : {OpenMode::ReadOnly, OpenMode::ReadWrite})
    CHECK(open_store(path, mode).error().message == "file " + path + " is no database of this program");
}

}  // namespace farm
