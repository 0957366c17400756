#include "apps/output_files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <future>

#include "testing.h"

namespace farm {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "output_files_XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~Folder() { fs::remove_all(path_); }
  std::string operator/(const char* name) const { return path_ + "/" + name; }
  size_t files() const { return size_t(std::distance(fs::directory_iterator(path_), fs::directory_iterator())); }

 private:
  std::string path_;
};

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }
std::string read(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

OutputFile file(const std::string& path, const std::string& text) { return {path, std::as_bytes(std::span(text))}; }

const std::string kNew = "new";

}  // namespace

TEST_CASE("a file that is not committed leaves the old one and nothing beside it") {
  Folder folder;
  write(folder / "a", "old");
  {
    auto pending = PendingFile::open(folder / "a");
    REQUIRE(pending);
    CHECK(pending->write(kNew));
  }
  CHECK(read(folder / "a") == "old");
  CHECK(folder.files() == 1);
}

TEST_CASE("two writers of one file do not meet: the last to commit wins, whole") {
  Folder folder;
  auto one = PendingFile::open(folder / "a");
  REQUIRE(one);
  CHECK(one->write("one"));
  if (pid_t child = fork(); child == 0) {
    std::string path = folder / "a";
    _exit(write_files({file(path, kNew)}) ? 0 : 1);
  } else {
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  CHECK(read(folder / "a") == "new");
  CHECK(one->commit());
  CHECK(read(folder / "a") == "one");
  CHECK(folder.files() == 1);
}

TEST_CASE("a link stays a link, and what it leads to is replaced or made") {
  Folder folder;
  write(folder / "real", "old");
  fs::create_symlink("real", folder / "link");
  fs::create_symlink("not_yet", folder / "dangling");
  CHECK(write_files({file(folder / "link", kNew), file(folder / "dangling", kNew)}));
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(read(folder / "real") == "new");
  CHECK(fs::is_symlink(folder / "dangling"));
  CHECK(read(folder / "not_yet") == "new");
  CHECK(folder.files() == 4);
}

TEST_CASE("a pipe is written, not replaced") {
  Folder folder;
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  auto reader = std::async(std::launch::async, [&] { return read(folder / "pipe"); });
  CHECK(write_files({file(folder / "pipe", kNew)}));
  CHECK(reader.get() == "new");
  CHECK(fs::is_fifo(folder / "pipe"));
}

TEST_CASE("what cannot be written is named with the reason, and none of its siblings is replaced") {
  Folder folder;
  write(folder / "a", "old");
  auto status = write_files({file(folder / "a", kNew), file(folder / "none/b", kNew)});
  REQUIRE(!status);
  CHECK(status.error().code == ErrorCode::Unavailable);
  CHECK(status.error().message == "file " + (folder / "none/b") + " cannot be written: No such file or directory");
  CHECK(read(folder / "a") == "old");
  fs::create_directory(folder / "folder");
  status = write_files({file(folder / "folder", kNew)});
  REQUIRE(!status);
  CHECK(status.error().message == "file " + (folder / "folder") + " cannot be written: it is a folder");
  CHECK(folder.files() == 2);
}

TEST_CASE("the database that is read is recognised by whatever name") {
  Folder folder;
  write(folder / "tuning.db", "records");
  fs::create_symlink("tuning.db", folder / "link");
  fs::create_hard_link(folder / "tuning.db", folder / "twin");
  for (const char* name : {"tuning.db", "link", "twin", "./tuning.db"}) {
    auto status = check_not_database("-o", folder / name, folder / "tuning.db");
    REQUIRE(!status);
    CHECK(status.error().code == ErrorCode::InvalidArgument);
    CHECK(status.error().message ==
          "-o " + (folder / name) + " is the database that is being read; choose another file");
  }
  CHECK(check_not_database("-o", folder / "other", folder / "tuning.db"));
  CHECK(is_same_file(folder / "not_yet", folder / "./not_yet"));
}

}  // namespace farm
