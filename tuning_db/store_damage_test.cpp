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
  CHECK(damaged[0].find("damaged") != std::string::npos);
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

/// Page `number` (from 1) overwritten from byte `from` on.
static void spoil_page(const std::string& path, size_t number, char with, size_t from = 0) {
  std::string bytes = read_file(path);
  REQUIRE(bytes.size() >= number * 4096);
  std::fill_n(bytes.begin() + long((number - 1) * 4096 + from), 4096 - from, with);
  write_file(path, bytes);
}

/// Pages whose first byte says that they are of this kind.
static std::vector<size_t> pages_of_kind(const std::string& path, char kind) {
  std::string bytes = read_file(path);
  std::vector<size_t> numbers;
  for (size_t number = 2; number * 4096 <= bytes.size(); ++number)
    if (bytes[(number - 1) * 4096] == kind) numbers.push_back(number);
  return numbers;
}

static constexpr char kTableTree = 5, kIndexTree = 2, kIndexLeaf = 10;

TEST_CASE("records are found without the tree that leads to them") {
  TempFolder folder;
  std::string path = folder.file("t.db");
  fill(path, 60);
  std::vector<size_t> trees = pages_of_kind(path, kTableTree);
  REQUIRE(trees.size() == 1);
  spoil_page(path, trees[0], 0);
  auto store = open_for_test(path, OpenMode::ReadOnly);
  std::vector<std::string> damaged;
  std::vector<int> numbers = readable(*store, damaged);
  CHECK(numbers.size() == 60);
  CHECK(std::ranges::is_sorted(numbers));
  CHECK(damaged.empty());
  CHECK(store->best({})->at(0) == make_record(1001));
  CHECK(store->spent(make_record(1).key)->trials == 60);
  CHECK_FALSE(store->check_structure()->empty());
}

TEST_CASE("records too long for their page are found by the pages that go on") {
  TempFolder folder;
  std::string path = folder.file("t.db");
  Record longer = make_record(1);
  for (int i = 0; i < 5000; ++i) longer.measurement.samples_ns.push_back(float(i));
  std::vector<Record> records{longer};
  for (int i = 2; i < 30; ++i) records.push_back(make_record(i));
  open_for_test(path)->append(records);
  spoil_page(path, pages_of_kind(path, kTableTree).at(0), 0);
  CHECK(read_all(*open_for_test(path, OpenMode::ReadOnly)) == records);
}

TEST_CASE("a first page that is damaged costs no record") {
  for (size_t from : {0, 100}) {  // with the file's header, and the tables' description alone
    TempFolder folder;
    std::string path = folder.file("t.db");
    fill(path, 60);
    spoil_page(path, 1, 0, from);
    auto store = open_for_test(path, OpenMode::ReadOnly);
    std::vector<std::string> damaged;
    CHECK(readable(*store, damaged).size() == 60);
    CHECK(damaged == std::vector<std::string>{"records after 60, if there were any: their pages are damaged"});
    CHECK(open_store(path, OpenMode::ReadWrite).error().message.starts_with("database " + path + " is damaged ("));
  }
}

TEST_CASE("damaged indexes hide nothing") {
  for (char kind : {kIndexTree, kIndexLeaf}) {
    TempFolder folder;
    std::string path = folder.file("t.db");
    fill(path, 200);
    for (size_t page : pages_of_kind(path, kind)) spoil_page(path, page, 0x5a);
    auto store = open_for_test(path, OpenMode::ReadOnly);
    CHECK(store->best({})->at(0) == make_record(1001));
    CHECK(store->spent(make_record(1).key)->trials == 200);
    CHECK(read_all(*store).size() == 200);
    CHECK_FALSE(store->check_structure()->empty());
    CHECK(read_all(*store).size() == 200);
  }
}

TEST_CASE("an index that contradicts its record does not make it the best") {
  TempFolder folder;
  std::string path = folder.file("t.db");
  auto slow = make_record(1, 2000);
  slow.key.threads = 1;
  open_for_test(path)->append({slow, make_record(2, 3000)});
  std::string bytes = read_file(path);
  size_t page = (pages_of_kind(path, kIndexLeaf).back() - 1) * 4096;
  // 3000.0 is stored as the integer 3000, big-endian.
  size_t at = bytes.find(std::string("\x0b\xb8", 2), page);
  REQUIRE(at < page + 4096);
  bytes[at] = 1;
  write_file(path, bytes);
  auto best = open_for_test(path, OpenMode::ReadOnly)->best({});
  REQUIRE(best->size() == 2);
  CHECK(best->at(1) == make_record(2, 3000));
}

TEST_CASE("a file of which nothing is left is damaged, not empty") {
  TempFolder folder;
  std::string path = folder.file("t.db");
  fill(path, 60);
  std::string bytes = read_file(path);
  for (size_t left : {100, 4096}) {
    write_file(path, bytes.substr(0, left));
    auto store = open_store(path, OpenMode::ReadOnly);
    auto report = store ? (*store)->scan({}, [](const Record&) { return true; }) : std::unexpected(store.error());
    REQUIRE_FALSE(report.has_value());
    CHECK(report.error() ==
          Error{ErrorCode::Corrupt, "database " + path + " is damaged: none of its records can be read"});
  }
}

TEST_CASE("findings about a file's structure are one line each") {
  TempFolder folder;
  std::string path = folder.file("t.db");
  fill(path, 200);
  for (size_t page : pages_of_kind(path, kIndexTree)) spoil_page(path, page, 0x5a);
  auto problems = open_for_test(path, OpenMode::ReadOnly)->check_structure();
  REQUIRE(problems->size() >= 2);
  for (const std::string& line : *problems) {
    CHECK(line.find('\n') == std::string::npos);
    CHECK_FALSE(line.starts_with("***"));
  }
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
  std::string saved = folder.file("t-saved");
  CHECK(writer.error().message.starts_with("database " + path + " is damaged ("));
  CHECK(writer.error().message.ends_with(
      "), and writing could cost more of it; save its records with: tuning_db export --db " + path + " -o " + saved +
      ".jsonl && tuning_db import --db " + saved + ".db " + saved + ".jsonl"));
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
