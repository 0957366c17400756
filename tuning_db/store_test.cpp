#include <fstream>
#include <sstream>

#include "tuning_db/test_records.h"

namespace farm {

TEST_CASE("records come back in order of insertion, bit for bit") {
  TempFolder folder;
  std::vector<Record> records = {make_record(3), make_failed(1, Outcome::Timeout), make_record(2)};
  {
    auto store = open_for_test(folder.file("t.db"));
    CHECK(store->append(records) == 3u);
    CHECK(read_all(*store) == records);
  }
  auto reader = open_for_test(folder.file("t.db"), OpenMode::ReadOnly);
  CHECK(read_all(*reader) == records);
}

TEST_CASE("a record that is there already is skipped") {
  TempFolder folder;
  auto store = open_for_test(folder.file("t.db"));
  CHECK(store->append({make_record(1), make_record(1)}) == 1u);
  CHECK(store->append({make_record(1), make_record(2)}) == 1u);
  CHECK(read_all(*store).size() == 2);
}

TEST_CASE("a batch with one impossible record stores none of it") {
  TempFolder folder;
  auto store = open_for_test(folder.file("t.db"));
  Record impossible = make_record(2, -1);
  CHECK(store->append({make_record(1), impossible}).error().message ==
        "a record that is ok has the latency -1 ns; it must be above 0");
  CHECK(read_all(*store).empty());
}

TEST_CASE("bytes that are no text are stored as question marks, not refused") {
  TempFolder folder;
  auto store = open_for_test(folder.file("t.db"));
  Record record = make_failed(1, Outcome::Crashed);
  record.measurement.detail = "bad \xff\xc3 text, good \xc3\xa9 text";
  CHECK(store->append({record}) == 1u);
  CHECK(read_all(*store).at(0).measurement.detail == "bad ?? text, good \xc3\xa9 text");
}

TEST_CASE("a filter chooses by task, operator, target, threads, policy, role and outcome") {
  TempFolder folder;
  auto store = open_for_test(folder.file("t.db"));
  Record other = make_record(9);
  other.key = {"matmul(m=1,n=1,k=1)", "x86-64-v4/emeraldrapids", 4, "cold"};
  other.role = Role::Final;
  other.device_key = "rack-3";
  REQUIRE(store->append({make_record(1), make_failed(2, Outcome::Timeout), other}));
  auto count = [&](auto change) {
    RecordFilter filter;
    change(filter);
    return read_all(*store, filter).size();
  };
  CHECK(count([](RecordFilter&) {}) == 3);
  CHECK(count([&](RecordFilter& f) { f.task = other.key.task; }) == 1);
  CHECK(count([&](RecordFilter& f) { f.tasks = {other.key.task, make_record(1).key.task}; }) == 3);
  CHECK(count([](RecordFilter& f) { f.op = "conv2d"; }) == 2);
  CHECK(count([](RecordFilter& f) { f.op = "conv"; }) == 0);
  for (const char* target : {"x86-64-v4/emeraldrapids", "x86-64-v4", "emeraldrapids", "rack-3"})
    CHECK(count([&](RecordFilter& f) { f.target = target; }) == 1);
  CHECK(count([](RecordFilter& f) { f.target = "x86-64"; }) == 0);
  CHECK(count([](RecordFilter& f) { f.threads = 2; }) == 2);
  CHECK(count([](RecordFilter& f) { f.policy = "cold"; }) == 1);
  CHECK(count([](RecordFilter& f) { f.role = Role::Final; }) == 1);
  CHECK(count([](RecordFilter& f) {
          f.only_ok = true;
          f.threads = 2;
        }) == 1);
}

TEST_CASE("a scan ends when its caller has had enough") {
  TempFolder folder;
  auto store = open_for_test(folder.file("t.db"));
  REQUIRE(store->append({make_record(1), make_record(2), make_record(3)}));
  int seen = 0;
  auto report = store->scan({}, [&](const Record&) { return ++seen < 2; });
  CHECK(seen == 2);
  CHECK(report->read == 2);
}

TEST_CASE("best is the fastest final, else the fastest trial, of each task, target and threads") {
  TempFolder folder;
  auto store = open_for_test(folder.file("t.db"));
  Record final_record = make_record(1, 900), one_thread = make_record(3, 2000);
  final_record.role = Role::Final;
  one_thread.key.threads = 1;
  REQUIRE(store->append(
      {make_record(2, 800), final_record, make_failed(5, Outcome::WrongResult), one_thread, make_record(4, 700)}));
  auto best = store->best({});
  REQUIRE(best.has_value());
  CHECK(*best == std::vector<Record>{one_thread, final_record});
}

TEST_CASE("the simplest of equally fast candidates is best") {
  TempFolder folder;
  auto store = open_for_test(folder.file("t.db"));
  Record longer = make_record(1), later = make_record(2), simplest = make_record(3);
  longer.candidate = "direct{tile=16}";
  later.candidate = "direct{b=1}";
  simplest.candidate = "direct{a=1}";
  REQUIRE(store->append({longer, later, simplest}));
  CHECK(store->best({})->at(0).candidate == "direct{a=1}");
}

TEST_CASE("what a key has cost counts trials, failed ones too, and everybody's time") {
  TempFolder folder;
  auto store = open_for_test(folder.file("t.db"));
  Record final_record = make_record(3), elsewhere = make_record(4);
  final_record.role = Role::Final;
  elsewhere.key.policy = "cold";
  REQUIRE(store->append({make_record(1), make_failed(2, Outcome::Timeout), final_record, elsewhere}));
  auto spent = store->spent(make_record(1).key);
  CHECK(spent->trials == 2);
  CHECK(spent->seconds == Approx(0.18));
  CHECK(store->spent({"matmul()", "x", 1, ""})->trials == 0);
}

TEST_CASE("a query does not create a database, a writer does") {
  TempFolder folder;
  std::string path = folder.file("t.db");
  auto missing = open_store(path, OpenMode::ReadOnly);
  CHECK(missing.error() ==
        Error{ErrorCode::NotFound, "no database " + path + "; tune writes one, --db FILE names another"});
  CHECK_FALSE(std::filesystem::exists(path));
  open_for_test(path);
  CHECK(read_all(*open_for_test(path, OpenMode::ReadOnly)).empty());
}

TEST_CASE("writers and readers leave one file behind") {
  TempFolder folder;
  auto count = [&] {
    return std::distance(std::filesystem::directory_iterator(folder.file("")), std::filesystem::directory_iterator());
  };
  CHECK(open_for_test(folder.file("t.db"))->append({make_record(1)}) == 1u);
  CHECK(count() == 1);
  CHECK(read_all(*open_for_test(folder.file("t.db"), OpenMode::ReadOnly)).size() == 1);
  CHECK(count() == 1);
}

TEST_CASE("a reader that ends beside a writer leaves the writer's log alone") {
  TempFolder folder;
  auto writer = open_for_test(folder.file("t.db"));
  CHECK(read_all(*open_for_test(folder.file("t.db"), OpenMode::ReadOnly)).empty());
  CHECK(writer->append({make_record(1)}) == 1u);
  CHECK(read_all(*open_for_test(folder.file("t.db"), OpenMode::ReadOnly)).size() == 1);
  CHECK(std::filesystem::exists(folder.file("t.db-wal")));
  CHECK(writer->append({make_record(2)}) == 1u);
  writer.reset();
  CHECK(read_all(*open_for_test(folder.file("t.db"), OpenMode::ReadOnly)).size() == 2);
}

TEST_CASE("a reader cannot append") {
  TempFolder folder;
  open_for_test(folder.file("t.db"));
  CHECK(open_for_test(folder.file("t.db"), OpenMode::ReadOnly)->append({make_record(1)}).error().message ==
        "database " + folder.file("t.db") + " was opened for reading only");
}

TEST_CASE("a reader sees what a writer appends while both are open") {
  TempFolder folder;
  auto writer = open_for_test(folder.file("t.db"));
  auto reader = open_for_test(folder.file("t.db"), OpenMode::ReadOnly);
  CHECK(read_all(*reader).empty());
  REQUIRE(writer->append({make_record(1)}));
  CHECK(read_all(*reader).size() == 1);
}

TEST_CASE("names with blanks, letters and marks that mean something in a URI are plain names") {
  TempFolder folder;
  std::string path = folder.file("tuning für ?50%#1.db");
  CHECK(open_for_test(path)->append({make_record(1)}) == 1u);
  CHECK(std::filesystem::exists(path));
  CHECK(read_all(*open_for_test(path, OpenMode::ReadOnly)).size() == 1);
}

TEST_CASE("what is no database is refused by name and left as it is") {
  TempFolder folder;
  std::string path = folder.file("notes.txt"), missing = folder.file("no/t.db");
  std::ofstream(path) << "not a database, and longer than the header of one, which is a hundred bytes in all, so that "
                         "it is read as one";
  for (OpenMode mode : {OpenMode::ReadOnly, OpenMode::ReadWrite})
    CHECK(open_store(path, mode).error() ==
          Error{ErrorCode::Corrupt, "file " + path + " is no database of this program"});
  std::ifstream again(path);
  std::string word;
  again >> word;
  CHECK(word == "not");
  CHECK(open_store(missing, OpenMode::ReadWrite).error().message ==
        "no folder " + folder.file("no") + " for the database " + missing);
}

TEST_CASE("records of the exact CPU come before those of a CPU with fewer features") {
  TempFolder folder;
  auto store = open_for_test(folder.file("t.db"));
  Target target;
  target.isa = "x86-64-v4";
  target.cpu = "emeraldrapids";
  target.features = {"amx-tile", "avx2", "avx512f", "fma"};
  Record old_cpu = make_record(1, 10), near_cpu = make_record(2, 20), stranger = make_record(3, 5),
         exact = make_record(4, 30);
  old_cpu.key.target = "x86-64-v3";
  old_cpu.device.features = {"avx2"};
  stranger.key.target = "x86-64-v4/znver4";
  stranger.device.features = {"avx2", "avx512bf16"};
  REQUIRE(store->append({old_cpu, near_cpu, stranger}));

  auto match = best_for(*store, exact.key.task, target, 2);
  REQUIRE((match && *match));
  CHECK((*match)->record.candidate == near_cpu.candidate);
  CHECK_FALSE((*match)->exact);

  exact.key.target = target.text();
  REQUIRE(store->append({exact}));
  match = best_for(*store, exact.key.task, target, 2);
  CHECK((*match)->record.candidate == exact.candidate);
  CHECK((*match)->exact);

  CHECK_FALSE(best_for(*store, exact.key.task, target, 1)->has_value());
  CHECK_FALSE(best_for(*store, "matmul(m=1,n=1,k=1)", target, 2)->has_value());
}

TEST_CASE("what an emulator measured is the best for no device, and the other way round") {
  TempFolder folder;
  auto store = open_for_test(folder.file("t.db"));
  Target real = *target_from_name("cortex-a72"), emulated = *target_from_name("cortex-a72+emulated");
  auto record_of = [](int number, const Target& device) {
    Record record = make_record(number);
    record.device = device;
    record.key.target = device.text();
    return record;
  };
  REQUIRE(store->append({record_of(1, emulated)}));
  std::string task = make_record(1).key.task;
  CHECK((*best_for(*store, task, emulated, 2))->exact);
  CHECK_FALSE(best_for(*store, task, real, 2)->has_value());
  CHECK_FALSE(best_for(*store, task, *target_from_name("cortex-a53"), 2)->has_value());
  CHECK((*best_for(*store, task, *target_from_name("cortex-a53+emulated"), 2)).has_value());
}

TEST_CASE("exported lines imported elsewhere give the same records, once") {
  TempFolder folder;
  auto store = open_for_test(folder.file("a.db")), copy = open_for_test(folder.file("b.db"));
  REQUIRE(store->append({make_record(1), make_failed(2, Outcome::Crashed)}));
  std::string text;
  for (const Record& record : read_all(*store)) text += to_json_line(record) + "\n";
  for (size_t expected : {2, 0}) {
    std::istringstream lines(text);
    auto report = import_lines(*copy, lines);
    CHECK(report->read == 2);
    CHECK(report->added == expected);
  }
  CHECK(read_all(*copy) == read_all(*store));
}

TEST_CASE("a bad line is named by its number and the good ones are imported") {
  TempFolder folder;
  auto store = open_for_test(folder.file("t.db"));
  std::istringstream lines(to_json_line(make_record(1)) + "\n\n{\n" + to_json_line(make_record(2)) + "\n" +
                           to_json_line(make_record(3)).substr(0, 200));
  auto report = import_lines(*store, lines);
  CHECK(report->added == 2);
  CHECK(report->bad == std::vector<std::string>{"line 3: it is no JSON", "line 5: it is no JSON"});
}

TEST_CASE("merging is idempotent") {
  TempFolder folder;
  auto a = open_for_test(folder.file("a.db")), b = open_for_test(folder.file("b.db"));
  REQUIRE(a->append({make_record(1), make_record(2)}));
  REQUIRE(b->append({make_record(2), make_record(3)}));
  CHECK(merge_store(*a, *b)->added == 1);
  CHECK(merge_store(*a, *b)->added == 0);
  CHECK(read_all(*a).size() == 3);
}

}  // namespace farm
