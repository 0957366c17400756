// Several processes, and ends that nobody planned.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tuning_db/test_records.h"

namespace farm {

/// Runs `body` in a child; its return value is the exit code. A child that outlives the test is killed.
class Child {
 public:
  template <class Body>
  explicit Child(Body body) {
    REQUIRE(pipe(pipe_) == 0);
    pid_ = fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      close(pipe_[0]);
      _exit(body(pipe_[1]));
    }
    close(pipe_[1]);
  }
  ~Child() {
    if (pid_ > 0) end(SIGKILL);
    close(pipe_[0]);
  }
  pid_t pid() const { return pid_; }
  /// The next number that the child wrote; 0 at its end.
  int next() {
    int number = 0;
    return read(pipe_[0], &number, sizeof number) == sizeof number ? number : 0;
  }
  int end(int signal) {
    if (signal) kill(pid_, signal);
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = 0;
    return status;
  }

 private:
  int pipe_[2];
  pid_t pid_;
};

static void say(int pipe, int number) { (void)!write(pipe, &number, sizeof number); }

TEST_CASE("a second writer is told who holds the database") {
  TempFolder folder;
  std::string path = folder.file("t.db");
  Child holder([&](int pipe) {
    auto store = open_store(path, OpenMode::ReadWrite);
    say(pipe, store ? 1 : 2);
    pause();
    return 0;
  });
  REQUIRE(holder.next() == 1);
  auto second = open_store(path, OpenMode::ReadWrite);
  CHECK(second.error() == Error{ErrorCode::Unavailable, "database " + path + " is being written by process " +
                                                            std::to_string(holder.pid()) +
                                                            "; wait until it ends or choose another with --db"});
  CHECK(open_store(path, OpenMode::ReadOnly).has_value());
  holder.end(SIGKILL);
  CHECK(open_store(path, OpenMode::ReadWrite).has_value());  // a dead holder holds nothing
}

TEST_CASE("a second writer in the same process is told so") {
  TempFolder folder;
  std::string path = folder.file("t.db");
  auto first = open_for_test(path);
  CHECK(open_store(path, OpenMode::ReadWrite).error().message ==
        "database " + path + " is being written by this process (" + std::to_string(getpid()) +
            "); wait until it ends or choose another with --db");
  first.reset();
  CHECK(open_store(path, OpenMode::ReadWrite).has_value());
}

TEST_CASE("a child that a writer forked does not hold the database after its parent's end") {
  TempFolder folder;
  std::string path = folder.file("t.db");
  Child writer([&](int pipe) {
    auto store = open_store(path, OpenMode::ReadWrite);
    pid_t grandchild = fork();
    if (grandchild == 0) {
      close(pipe);
      pause();
      _exit(0);
    }
    say(pipe, grandchild);
    pause();
    return 0;
  });
  pid_t grandchild = writer.next();
  REQUIRE(grandchild > 0);
  writer.end(SIGKILL);
  CHECK(open_store(path, OpenMode::ReadWrite).has_value());
  kill(grandchild, SIGKILL);
}

TEST_CASE("kill -9 in the middle of appending loses no record that was acknowledged") {
  TempFolder folder;
  std::string path = folder.file("t.db");
  int acknowledged = 0;
  for (int round = 0; round < 4; ++round) {
    Child writer([&](int pipe) {
      auto store = open_store(path, OpenMode::ReadWrite);
      for (int number = acknowledged + 1; store; ++number) {
        if (!(*store)->append({make_record(2 * number), make_record(2 * number + 1)})) break;
        say(pipe, number);
      }
      return 1;
    });
    for (int i = 0; i < 10 + 7 * round; ++i) acknowledged = std::max(acknowledged, writer.next());
    writer.end(SIGKILL);
    for (int more = writer.next(); more; more = writer.next()) acknowledged = more;

    auto reader = open_for_test(path, OpenMode::ReadOnly);
    size_t stored = read_all(*reader).size();
    CHECK(stored >= size_t(2 * acknowledged));
    CHECK(stored <= size_t(2 * acknowledged + 2));  // a batch may be durable and not yet acknowledged
    CHECK(stored % 2 == 0);                         // and is there whole or not at all
    CHECK(reader->check_structure()->empty());
  }
}

TEST_CASE("a file that may not grow is an error, and the store stays whole") {
  TempFolder folder;
  std::string path = folder.file("t.db");
  Child writer([&](int) {
    signal(SIGXFSZ, SIG_IGN);
    auto store = open_store(path, OpenMode::ReadWrite);
    if (!store || !(*store)->append({make_record(1)})) return 1;
    rlimit limit{200'000, 200'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    for (int number = 2; number < 1000; ++number) {
      auto added = (*store)->append({make_record(number)});
      if (!added) return added.error().code == ErrorCode::Unavailable ? number : 2;
    }
    return 3;
  });
  int status = writer.end(0);
  REQUIRE(WIFEXITED(status));
  int refused = WEXITSTATUS(status);
  REQUIRE(refused > 3);
  auto reader = open_for_test(path, OpenMode::ReadOnly);
  CHECK(read_all(*reader).size() == size_t(refused - 1));
  CHECK(reader->check_structure()->empty());
  reader.reset();
  CHECK(open_for_test(path)->append({make_record(2000)}) == 1u);
}

}  // namespace farm
