#include "tests/errors/fixtures.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/records.h"

namespace farm {
namespace {

void make_database(const std::string& path) {
  Target board = *target_from_name("haswell");
  board.cores = 4;
  Record record = measured("matmul(m=8,n=8,k=8)", board, 4, "tiles{}", 1000);
  record.device_key = "rack-7";
  store_records(path, {record});
}

/// SQLite keeps the version in bytes 60 to 63 of the file.
void set_version(const std::string& path, char version) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(60);
  const char bytes[] = {0, 0, 0, version};
  file.write(bytes, sizeof bytes);
  REQUIRE(file.good());
}

}  // namespace

uint16_t closed_port() {
  static const uint16_t port = [] {
    // Bound and never listened to: connections are refused, and nobody else gets it.
    int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(bind(socket, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    return ntohs(address.sin_port);
  }();
  return port;
}

void Fixtures::make(const std::string& name) {
  if (name == "tracker") {
    auto started = ChildProgram::start({.program = ERRORS_BIN "/tracker", .args = {"--port", "0"}, .log = {}});
    if (!started) FAIL(started.error().message);
    tracker_.emplace(*std::move(started));
    return;
  }
  std::string path = folder_.path(name);
  if (name == "garbage.db") return folder_.write(name, std::string(4096, 'x'));
  if (name.ends_with(".txt")) return folder_.write(name, "2 x matmul(m=8,n=8,k=8)\nconv2d(height=5\n");
  REQUIRE(name.ends_with(".db"));
  make_database(path);
  if (name == "newer.db") set_version(path, 7);
  if (name == "held.db") {
    auto store = open_store(path, OpenMode::ReadWrite);
    REQUIRE(store.has_value());
    held_.push_back(*std::move(store));
  }
}

}  // namespace farm
