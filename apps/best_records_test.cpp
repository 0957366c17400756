#include "apps/best_records.h"

#include <stdlib.h>

#include <filesystem>

#include "testing.h"
#include "tests/records.h"

namespace farm {
namespace {

const std::string kTask = "matmul(m=64,n=64,k=64)", kOther = "matmul(m=32,n=32,k=32)";

/// A database in a folder of its own.
class Database {
 public:
  explicit Database(const std::vector<Record>& records) {
    std::string pattern = (std::filesystem::temp_directory_path() / "best_records_XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;
    store_records(folder_ + "/tuning.db", records);
    store_ = open_store(folder_ + "/tuning.db", OpenMode::ReadOnly).value();
  }
  ~Database() {
    store_.reset();
    std::filesystem::remove_all(folder_);
  }
  /// "task target" of each answer.
  std::vector<std::string> best(const std::string& target, Notes& notes) {
    RecordFilter filter;
    filter.target = target;
    auto records = best_records(filter, {store_.get(), "tuning.db"}, notes);
    if (!records) FAIL(records.error().message);
    std::vector<std::string> texts;
    for (const Record& record : *records) texts.push_back(record.key.task + " " + record.key.target);
    return texts;
  }

 private:
  std::string folder_;
  std::unique_ptr<RecordStore> store_;
};

Target named(const char* name) { return target_from_name(name).value(); }

}  // namespace

TEST_CASE("a task without a record of the exact CPU is answered by one whose features are a subset, aloud") {
  Target v3 = named("x86-64-v3"), zen3 = named("znver3");
  Database database({measured(kTask, v3, 2, "direct{a=1}", 9e5), measured(kTask, zen3, 2, "direct{a=2}", 8e5),
                     measured(kOther, v3, 2, "direct{a=1}", 7e5)});
  Notes notes;
  CHECK(database.best("znver3", notes) ==
        std::vector<std::string>{kTask + " " + zen3.text(), kOther + " " + v3.text()});
  CHECK(notes == Notes{"tuning.db has no record of 1 task for x86-64-v3/znver3; taken are those of x86-64-v3, whose "
                       "features are a subset"});
}

TEST_CASE("records of a CPU that has more than the target are no answer") {
  Database database({measured(kTask, named("znver3"), 2, "direct{a=2}", 8e5)});
  Notes notes;
  CHECK(database.best("x86-64-v2", notes).empty());
  CHECK(notes.empty());
}

TEST_CASE("a name that nobody knows finds nothing and says what is possible") {
  Database database({measured(kTask, named("znver3"), 2, "direct{a=2}", 8e5)});
  Notes notes;
  CHECK(database.best("znver33", notes).empty());
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].starts_with("unknown target \"znver33\" (did you mean znver3"));
}

}  // namespace farm
