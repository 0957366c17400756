#include "codegen/llvm/output_pipe.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <thread>

namespace farm::codegen {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return value_; }

 private:
  int value_;
};

/// What is there now; `descriptor` does not block.
void drain(int descriptor, std::vector<std::byte>& content) {
  constexpr size_t kChunk = 1 << 16;
  for (size_t size = content.size();;) {
    content.resize(size + kChunk);
    const ssize_t count = read(descriptor, content.data() + size, kChunk);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return content.resize(size);
    size += static_cast<size_t>(count);
  }
}

/// Until `done` is signalled, and then what is left. (Not until the end of file: a process that somebody forks
/// meanwhile would hold the pipe open.)
void read_along(int descriptor, int done, std::vector<std::byte>& content) {
  for (;;) {
    pollfd events[] = {{.fd = descriptor, .events = POLLIN}, {.fd = done, .events = POLLIN}};
    if (poll(events, 2, -1) < 0 && errno != EINTR) return;
    const bool last = (events[1].revents & POLLIN) != 0;
    drain(descriptor, content);
    if (last) return;
  }
}

std::unexpected<Error> failed(const char* what, const char* why) {
  return fail(ErrorCode::Unavailable, "codegen: cannot ", what, ": ", why);
}

}  // namespace

Result<std::vector<std::byte>> capture_output(const std::function<Status(const std::string& path)>& write) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return failed("open a pipe", std::strerror(errno));
  const Descriptor read_end(ends[0]), write_end(ends[1]), done(eventfd(0, EFD_CLOEXEC));
  if (done.get() < 0 || fcntl(read_end.get(), F_SETFL, O_NONBLOCK) != 0)
    return failed("watch a pipe", std::strerror(errno));
  std::vector<std::byte> content;
  std::thread reader;
  try {
    reader = std::thread(read_along, read_end.get(), done.get(), std::ref(content));
  } catch (const std::system_error& error) {
    return failed("start a thread", error.what());
  }
  const Status written = write("/proc/self/fd/" + std::to_string(write_end.get()));
  eventfd_write(done.get(), 1);
  reader.join();
  FARM_CHECK(written);
  return content;
}

}  // namespace farm::codegen
