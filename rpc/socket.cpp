#include "rpc/socket.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/text.h"

namespace farm {
namespace {

using std::chrono::milliseconds;

int milliseconds_until(Deadline deadline) {
  auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 3'600'000));
}

// False at the deadline.
bool wait_for(int fd, short events, Deadline deadline) {
  for (;;) {
    pollfd entry{fd, events, 0};
    int ready = poll(&entry, 1, milliseconds_until(deadline));
    if (ready > 0) return true;
    if (ready == 0 && std::chrono::steady_clock::now() >= deadline) return false;
    if (ready < 0 && errno != EINTR) return true;  // the next call on the socket says what is wrong
  }
}

struct Resolved {
  addrinfo* first = nullptr;
  ~Resolved() {
    if (first) freeaddrinfo(first);
  }
};

Status resolve(const Address& address, Resolved& found) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  int error = getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found.first);
  if (error) return fail(ErrorCode::NotFound, "no host ", printable(address.host), " (", gai_strerror(error), ")");
  return {};
}

Status finish_connect(int fd, const addrinfo& to, Deadline deadline) {
  if (::connect(fd, to.ai_addr, to.ai_addrlen) == 0) return {};
  if (errno != EINPROGRESS) return fail(ErrorCode::Unavailable, std::strerror(errno));
  if (!wait_for(fd, POLLOUT, deadline)) return fail(ErrorCode::DeadlineExceeded, "no answer in time");
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error) return fail(ErrorCode::Unavailable, std::strerror(error));
  return {};
}

std::string lower_first(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(text[0]));
  return text;
}

}  // namespace

void set_connection_options(int socket) {
  auto set = [&](int level, int name, int value) { setsockopt(socket, level, name, &value, sizeof value); };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, 15'000);
}

Result<Socket> Socket::connect(const Address& address, Deadline deadline) {
  Resolved found;
  FARM_CHECK(resolve(address, found));
  Error last{ErrorCode::Unavailable, "no address"};
  for (const addrinfo* to = found.first; to; to = to->ai_next) {
    int fd = ::socket(to->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return fail(ErrorCode::Unavailable, "no socket: ", std::strerror(errno));
    Socket socket(fd);
    auto connected = finish_connect(fd, *to, deadline);
    if (connected) {
      set_connection_options(fd);
      return socket;
    }
    last = connected.error();
  }
  return fail(last.code, lower_first(last.message));
}

Socket::Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)), reader_(std::move(other.reader_)) {}

Socket& Socket::operator=(Socket&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(reader_, other.reader_);
  return *this;
}

Socket::~Socket() {
  if (fd_ >= 0) close(fd_);
}

Status Socket::send(std::span<const std::byte> frame, Deadline deadline) {
  while (!frame.empty()) {
    ssize_t sent = ::send(fd_, frame.data(), frame.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      frame = frame.subspan(static_cast<size_t>(sent));
    } else if (errno == EAGAIN) {
      // Half a frame may be out: after this error the connection is of no more use.
      if (!wait_for(fd_, POLLOUT, deadline)) return fail(ErrorCode::Unavailable, "the other side does not read");
    } else if (errno != EINTR) {
      return fail(ErrorCode::Unavailable, "connection lost: ", lower_first(std::strerror(errno)));
    }
  }
  return {};
}

Result<Frame> Socket::receive(Deadline deadline) {
  for (;;) {
    FARM_TRY(auto frame, reader_.next());
    if (frame) return std::move(*frame);
    auto space = reader_.space();
    ssize_t got = recv(fd_, space.data(), space.size(), 0);
    if (got > 0) {
      reader_.filled(static_cast<size_t>(got));
    } else if (got == 0) {
      return fail(ErrorCode::Unavailable, "connection closed by the other side");
    } else if (errno == EAGAIN) {
      if (!wait_for(fd_, POLLIN, deadline)) return fail(ErrorCode::DeadlineExceeded, "no answer in time");
    } else if (errno != EINTR) {
      return fail(ErrorCode::Unavailable, "connection lost: ", lower_first(std::strerror(errno)));
    }
  }
}

Result<Socket> open_connection(const Address& address, Role role, const std::string& name, Deadline deadline,
                               std::string* peer) {
  FARM_TRY(auto socket, Socket::connect(address, deadline));
  FARM_CHECK(socket.send(to_frame(HelloMessage{role, name}), deadline));
  FARM_TRY(auto frame, socket.receive(deadline));
  if (frame.type == MessageType::Refused) {
    FARM_TRY(auto refused, open_frame<RefusedMessage>(frame));
    return fail(ErrorCode::Unavailable, "refused: ", printable(refused.reason));
  }
  FARM_TRY(auto welcome, open_frame<WelcomeMessage>(frame));
  if (peer) *peer = welcome.name;
  return socket;
}

}  // namespace farm
