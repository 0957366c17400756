// What readers and writers may do to file and folder, and what they say when they may not.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "tuning_db/test_records.h"

namespace farm {
namespace {

/// A child that holds no rights but those that everybody has; root would be let through everywhere.
class Stranger {
 public:
  explicit Stranger(const std::function<void(Stranger&)>& body) {
    REQUIRE(pipe(answers_) == 0);
    REQUIRE(pipe(questions_) == 0);
    pid_ = fork();
    REQUIRE(pid_ >= 0);
    if (pid_ != 0) return;
    constexpr uid_t kNobody = 65534;
    bool stripped =
        geteuid() != 0 || (setresgid(kNobody, kNobody, kNobody) == 0 && setresuid(kNobody, kNobody, kNobody) == 0);
    if (stripped) body(*this);
    _exit(0);
  }
  ~Stranger() {
    for (int fd : {answers_[0], answers_[1], questions_[0], questions_[1]}) close(fd);
    waitpid(pid_, nullptr, 0);
  }
  Stranger(const Stranger&) = delete;

  // Of the child.
  void say(const std::string& text) {
    std::string line = text + "\n";
    (void)!write(answers_[1], line.data(), line.size());
  }
  void wait() {
    char byte;
    (void)!read(questions_[0], &byte, 1);
  }

  // Of the test.
  std::string next() {
    std::string line;
    for (char c; read(answers_[0], &c, 1) == 1 && c != '\n';) line += c;
    return line;
  }
  void go_on() { REQUIRE(write(questions_[1], "g", 1) == 1); }

 private:
  int answers_[2], questions_[2];
  pid_t pid_;
};

std::string count_records(RecordStore& store) {
  auto report = store.scan({}, [](const Record&) { return true; });
  if (!report) return report.error().message;
  return std::to_string(report->read) + (report->damaged.empty() ? "" : " " + report->damaged[0]);
}

std::string read_as_stranger(const std::string& path) {
  Stranger stranger([&](Stranger& self) {
    auto store = open_store(path, OpenMode::ReadOnly);
    self.say(store ? count_records(**store) : store.error().message);
  });
  return stranger.next();
}

std::string write_as_stranger(const std::string& path) {
  Stranger stranger([&](Stranger& self) {
    auto store = open_store(path, OpenMode::ReadWrite);
    self.say(store ? "opened" : store.error().message);
  });
  return stranger.next();
}

/// Everybody may look, nobody may change.
void seal(const std::string& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) REQUIRE(chmod(entry.path().c_str(), 0444) == 0);
  REQUIRE(chmod(folder.c_str(), 0555) == 0);
}
void unseal(const std::string& folder) {
  REQUIRE(chmod(folder.c_str(), 0755) == 0);
  for (const auto& entry : std::filesystem::directory_iterator(folder)) REQUIRE(chmod(entry.path().c_str(), 0644) == 0);
}

}  // namespace

TEST_CASE("a reader needs no right to write") {
  TempFolder folder;
  std::string path = folder.file("t.db");
  open_for_test(path)->append({make_record(1), make_record(2)});
  seal(folder.file(""));
  CHECK(read_as_stranger(path) == "2");
  CHECK(folder.files() == std::vector<std::string>{"t.db"});
  unseal(folder.file(""));
}

TEST_CASE("a reader of a file that it may not change leaves nothing in a folder that it may") {
  TempFolder folder;
  std::string path = folder.file("t.db");
  open_for_test(path)->append({make_record(1)});
  REQUIRE(chmod(path.c_str(), 0444) == 0);
  REQUIRE(chmod(folder.file("").c_str(), 0777) == 0);
  CHECK(read_as_stranger(path) == "1");
  CHECK(folder.files() == std::vector<std::string>{"t.db"});
}

TEST_CASE("a reader without the right to write sees what a writer appends beside it") {
  TempFolder folder;
  std::string path = folder.file("t.db");
  auto writer = open_for_test(path);
  REQUIRE(writer->append({make_record(1)}));
  seal(folder.file(""));
  Stranger stranger([&](Stranger& self) {
    auto store = open_store(path, OpenMode::ReadOnly);
    for (int round = 0; round < 2; ++round) {
      self.say(store ? count_records(**store) : store.error().message);
      self.wait();
    }
  });
  CHECK(stranger.next() == "1");
  CHECK(writer->append({make_record(2)}) == 1u);
  stranger.go_on();
  CHECK(stranger.next() == "2");
  stranger.go_on();
  unseal(folder.file(""));
}

TEST_CASE("a reader that began without a writer sees the one that begins afterwards") {
  TempFolder folder;
  std::string path = folder.file("t.db");
  open_for_test(path)->append({make_record(1)});
  seal(folder.file(""));
  Stranger stranger([&](Stranger& self) {
    auto store = open_store(path, OpenMode::ReadOnly);
    for (int round = 0; round < 3; ++round) {
      self.say(store ? count_records(**store) : store.error().message);
      self.wait();
    }
  });
  CHECK(stranger.next() == "1");
  unseal(folder.file(""));
  auto writer = open_for_test(path);
  CHECK(writer->append({make_record(2)}) == 1u);
  stranger.go_on();
  CHECK(stranger.next() == "2");
  CHECK(writer->append({make_record(3)}) == 1u);
  writer.reset();
  stranger.go_on();
  CHECK(stranger.next() == "3");
  stranger.go_on();
}

TEST_CASE("records in the log of a writer that died are read without the right to write") {
  TempFolder folder, copies;
  std::string path = folder.file("t.db");
  auto writer = open_for_test(path);
  REQUIRE(writer->append({make_record(1)}));
  for (bool with_index : {true, false}) {
    std::filesystem::path copy = copies.file(with_index ? "whole" : "without index");
    std::filesystem::create_directory(copy);
    for (std::string end : {"", "-wal", "-shm"})
      if (end != "-shm" || with_index) std::filesystem::copy_file(path + end, copy / ("t.db" + end));
    seal(copy);
    REQUIRE(chmod(copies.file("").c_str(), 0755) == 0);
    CHECK(read_as_stranger(copy / "t.db") == "1");
    unseal(copy);
  }
}

TEST_CASE("a database reached by a link is read where it lies") {
  TempFolder folder, links;
  open_for_test(folder.file("t.db"))->append({make_record(1)});
  std::filesystem::create_symlink(folder.file("t.db"), links.file("link.db"));
  CHECK(read_all(*open_for_test(links.file("link.db"), OpenMode::ReadOnly)).size() == 1);
  CHECK(folder.files() == std::vector<std::string>{"t.db"});
  CHECK(links.files() == std::vector<std::string>{"link.db"});
}

TEST_CASE("what may not be read or written is said in words, with what to do") {
  TempFolder folder;
  std::string path = folder.file("t.db");
  REQUIRE(chmod(folder.file("").c_str(), 0777) == 0);
  open_for_test(path)->append({make_record(1)});
  const std::string ask = "; ask its owner for access or choose another with --db";

  REQUIRE(chmod(path.c_str(), 0) == 0);
  CHECK(read_as_stranger(path) == "database " + path + " cannot be read: permission denied" + ask);
  CHECK(write_as_stranger(path) == "database " + path + " cannot be written: permission denied" + ask);
  REQUIRE(chmod(path.c_str(), 0444) == 0);
  CHECK(write_as_stranger(path) == "database " + path + " cannot be written: permission denied" + ask);

  std::string sealed = folder.file("sealed");
  std::filesystem::create_directory(sealed);
  seal(sealed);
  CHECK(write_as_stranger(sealed + "/t.db") ==
        "database " + sealed + "/t.db cannot be written: its folder " + sealed + ": permission denied" + ask);
  REQUIRE(chmod(sealed.c_str(), 0) == 0);
  CHECK(read_as_stranger(sealed + "/t.db") == "database " + sealed + "/t.db cannot be read: permission denied" + ask);
  unseal(sealed);
}

TEST_CASE("a folder or a pipe is no database, whatever is wanted of it") {
  TempFolder folder;
  std::string pipe = folder.file("pipe"), self = std::filesystem::path(folder.file("")).parent_path();
  REQUIRE(mkfifo(pipe.c_str(), 0644) == 0);
  for (OpenMode mode : {OpenMode::ReadOnly, OpenMode::ReadWrite}) {
    CHECK(open_store(self, mode).error() ==
          Error{ErrorCode::Unavailable, self + " is a folder; a database is a file, and --db FILE names one"});
    CHECK(
        open_store(pipe, mode).error() ==
        Error{ErrorCode::Unavailable, pipe + " is a device or a pipe; a database is a file, and --db FILE names one"});
  }
  CHECK(folder.files() == std::vector<std::string>{"pipe"});
}

TEST_CASE("a disk that is full refuses the writer, keeps what was stored, and lets readers read") {
  TempFolder folder;
  std::string path = folder.file("t.db");
  int answers[2];
  REQUIRE(pipe(answers) == 0);
  pid_t child = fork();
  if (child == 0) {  // mounts are this child's own and end with it
    auto say = [&](const std::string& text) {
      (void)!write(answers[1], text.data(), text.size());
      _exit(0);
    };
    if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("none", folder.file("").c_str(), "tmpfs", 0, "size=400k") != 0)
      say(std::string("no disk: ") + std::strerror(errno));
    auto writer = open_store(path, OpenMode::ReadWrite);
    int stored = 0;
    auto added = (*writer)->append({make_record(1)});
    for (; added; added = (*writer)->append({make_record(stored + 1)})) ++stored;
    writer->reset();
    auto reader = open_store(path, OpenMode::ReadOnly);
    std::string read = reader ? count_records(**reader) : reader.error().message;
    say(added.error().message + ", " + (read == std::to_string(stored) && stored > 10 ? "all are read" : read));
  }
  close(answers[1]);
  std::string answer;
  for (char c; read(answers[0], &c, 1) == 1;) answer += c;
  close(answers[0]);
  waitpid(child, nullptr, 0);
  if (answer.starts_with("no disk: "))
    WARN("skipped, since a small disk cannot be mounted here: " << answer.substr(9));
  else
    CHECK(answer == "database " + path +
                        " cannot grow: the disk is full; records stored before are kept; make room and run it again, "
                        "all are read");
}

}  // namespace farm
