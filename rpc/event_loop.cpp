// The one file of the project that includes Asio. Each connection is two coroutines: one reads frames and hands them
// over, one writes what did not fit into the socket at once.
#include "rpc/event_loop.h"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <deque>
#include <unordered_map>

#include "base/text.h"
#include "rpc/socket.h"

namespace farm {
namespace {

namespace asio = boost::asio;
using asio::awaitable;
using asio::redirect_error;
using asio::use_awaitable;
using asio::ip::tcp;
using boost::system::error_code;
using SteadyTime = std::chrono::steady_clock::time_point;

constexpr SteadyTime kNever = SteadyTime::max();
constexpr std::chrono::milliseconds kSweepEvery{1'000};
constexpr std::chrono::milliseconds kClosingDeadline{5'000};
constexpr size_t kLeastBytesPerMs = 1 << 10;  // a frame may take its deadline and 1 s for every MiB

struct Connection {
  Connection(ConnectionId id, tcp::socket socket, std::shared_ptr<const ConnectionHandlers> handlers)
      : id(id), socket(std::move(socket)), handlers(std::move(handlers)) {}

  ConnectionId id;
  tcp::socket socket;
  std::shared_ptr<const ConnectionHandlers> handlers;
  FrameReader reader;
  std::deque<std::vector<std::byte>> queue;  ///< not yet written; the front one may be half out
  size_t front_done = 0, queued_bytes = 0;
  bool outgoing = false, opened = false, writing = false, closing = false, ended = false;
  std::string why_closing;
  SteadyTime deadline = kNever;
  bool frame_began = false;
};
using ConnectionPtr = std::shared_ptr<Connection>;

std::unexpected<Error> lost(const error_code& ec) {
  if (ec == asio::error::eof) return fail(ErrorCode::Unavailable, "connection closed by the other side");
  return fail(ErrorCode::Unavailable, "connection lost: ", ec.message());
}

class AsioLoop final : public EventLoop {
 public:
  explicit AsioLoop(EventLoopLimits limits) : limits_(limits), signals_(io_) {
    asio::co_spawn(io_, sweep(), asio::detached);
  }

  Result<Address> listen(const Address& address, const std::string& name, ConnectionHandlers handlers) override {
    error_code ec;
    auto host = asio::ip::make_address(address.host == "localhost" ? "127.0.0.1" : address.host, ec);
    if (ec)
      return fail(ErrorCode::InvalidArgument, "cannot listen on '", printable(address.host),
                  "'; an IP address is wanted");
    tcp::acceptor acceptor(io_);
    tcp::endpoint endpoint(host, address.port);
    acceptor.open(endpoint.protocol(), ec);
    if (!ec) acceptor.set_option(tcp::acceptor::reuse_address(true), ec);
    if (!ec) acceptor.bind(endpoint, ec);
    if (!ec) acceptor.listen(4096, ec);
    if (ec) return fail(ErrorCode::Unavailable, "cannot listen on ", address.text(), ": ", ec.message());
    Address bound{address.host, acceptor.local_endpoint(ec).port()};
    auto shared = std::make_shared<const ConnectionHandlers>(std::move(handlers));
    asio::co_spawn(io_, accept(std::move(acceptor), name, std::move(shared)), asio::detached);
    return bound;
  }

  ConnectionId connect(const Address& address, Role role, const std::string& name, std::chrono::milliseconds timeout,
                       ConnectionHandlers handlers) override {
    auto shared = std::make_shared<const ConnectionHandlers>(std::move(handlers));
    ConnectionPtr connection = add(tcp::socket(io_), std::move(shared));
    connection->outgoing = true;
    connection->deadline = now() + timeout;
    asio::co_spawn(io_, serve_outgoing(connection, address, HelloMessage{role, name}), asio::detached);
    return connection->id;
  }

  void send(ConnectionId id, std::vector<std::byte> frame) override {
    auto at = connections_.find(id);
    if (at != connections_.end() && !at->second->closing) queue_frame(at->second, std::move(frame));
  }

  void close(ConnectionId id, const std::string& why) override {
    auto at = connections_.find(id);
    if (at != connections_.end()) close_after_writing(at->second, why);
  }

  void after(std::chrono::milliseconds delay, std::function<void()> call) override {
    auto timer = std::make_shared<asio::steady_timer>(io_, delay);
    timer->async_wait([timer, call = std::move(call)](const error_code& ec) {
      if (!ec) call();
    });
  }

  void post(std::function<void()> call) override { asio::post(io_, std::move(call)); }

  void on_signal(std::function<void(int)> call) override {
    error_code ec;
    signals_.add(SIGINT, ec);
    signals_.add(SIGTERM, ec);
    asio::co_spawn(io_, wait_for_signals(std::move(call)), asio::detached);
  }

  void run() override { io_.run(); }
  void stop() override { io_.stop(); }

 private:
  static SteadyTime now() { return std::chrono::steady_clock::now(); }

  ConnectionPtr add(tcp::socket socket, std::shared_ptr<const ConnectionHandlers> handlers) {
    auto connection = std::make_shared<Connection>(next_id_++, std::move(socket), std::move(handlers));
    connection->reader.limit_body(kMaxOpeningBytes);
    connections_[connection->id] = connection;
    return connection;
  }

  awaitable<void> accept(tcp::acceptor acceptor, std::string name, std::shared_ptr<const ConnectionHandlers> handlers) {
    for (;;) {
      error_code ec;
      tcp::socket socket = co_await acceptor.async_accept(redirect_error(use_awaitable, ec));
      if (ec == asio::error::operation_aborted) co_return;
      if (ec) {  // out of descriptors, or a peer that was gone at once: others must still be served
        asio::steady_timer pause(io_, std::chrono::milliseconds(50));
        co_await pause.async_wait(redirect_error(use_awaitable, ec));
        continue;
      }
      if (connections_.size() >= limits_.max_connections) continue;
      ConnectionPtr connection = add(std::move(socket), handlers);
      connection->deadline = now() + limits_.opening_deadline;
      asio::co_spawn(io_, serve_incoming(connection, name), asio::detached);
    }
  }

  awaitable<void> serve_incoming(ConnectionPtr connection, std::string name) {
    prepare(*connection);
    Result<HelloMessage> hello = co_await read_message<HelloMessage>(connection);
    if (!hello) {
      refuse(connection, hello.error());
      co_return;
    }
    error_code ec;
    std::string from = connection->socket.remote_endpoint(ec).address().to_string();
    set_open(*connection);
    Status accepted = connection->handlers->opened(connection->id, hello->role, hello->name, from);
    if (!accepted) {
      connection->opened = false;  // the owner never had it
      refuse(connection, accepted.error());
      co_return;
    }
    queue_frame(connection, to_frame(WelcomeMessage{name}));
    co_await hand_over_frames(connection);
  }

  awaitable<void> serve_outgoing(ConnectionPtr connection, Address address, HelloMessage hello) {
    Status reached = co_await reach(connection, address);
    if (!reached) {
      end(connection, reached.error());
      co_return;
    }
    prepare(*connection);
    queue_frame(connection, to_frame(hello));
    Result<Frame> frame = co_await read_frame(connection);
    Result<WelcomeMessage> welcome = frame ? open_welcome(*frame) : std::unexpected(frame.error());
    if (!welcome) {
      end(connection, welcome.error());
      co_return;
    }
    set_open(*connection);
    connection->handlers->opened(connection->id, Role::Device, welcome->name, address.host);
    co_await hand_over_frames(connection);
  }

  awaitable<Status> reach(ConnectionPtr connection, Address address) {
    error_code ec;
    tcp::resolver resolver(io_);
    tcp::resolver::results_type found = co_await resolver.async_resolve(
        address.host, std::to_string(address.port), tcp::resolver::numeric_service, redirect_error(use_awaitable, ec));
    for (const auto& entry : found) {
      if (connection->ended) break;
      error_code ignored;
      connection->socket.close(ignored);
      co_await connection->socket.async_connect(entry.endpoint(), redirect_error(use_awaitable, ec));
      if (!ec) co_return Status{};
    }
    co_return fail(ErrorCode::Unavailable, "cannot connect to ", printable(address.text()), ": ", ec.message());
  }

  static Result<WelcomeMessage> open_welcome(const Frame& frame) {
    if (frame.type != MessageType::Refused) return open_frame<WelcomeMessage>(frame);
    FARM_TRY(auto refused, open_frame<RefusedMessage>(frame));
    return fail(ErrorCode::Unavailable, "refused: ", printable(refused.reason));
  }

  void prepare(Connection& connection) {
    error_code ec;
    set_connection_options(connection.socket.native_handle());
    connection.socket.non_blocking(true, ec);
  }

  void set_open(Connection& connection) {
    connection.opened = true;
    connection.deadline = kNever;
    connection.reader.limit_body(SIZE_MAX);
  }

  awaitable<void> hand_over_frames(ConnectionPtr connection) {
    for (;;) {
      Result<Frame> frame = co_await read_frame(connection);
      if (connection->ended || connection->closing) co_return;
      if (!frame) {
        end(connection, frame.error());
        co_return;
      }
      connection->handlers->frame(connection->id, std::move(*frame));
    }
  }

  template <class Message>
  awaitable<Result<Message>> read_message(ConnectionPtr connection) {
    Result<Frame> frame = co_await read_frame(connection);
    if (!frame) co_return std::unexpected(frame.error());
    co_return open_frame<Message>(*frame);
  }

  awaitable<Result<Frame>> read_frame(ConnectionPtr connection) {
    for (;;) {
      Result<std::optional<Frame>> next = connection->reader.next();
      if (!next) co_return std::unexpected(next.error());
      if (*next) {
        connection->frame_began = false;
        co_return std::move(**next);
      }
      watch_frame(*connection);
      std::span<std::byte> space = connection->reader.space();
      error_code ec;
      size_t got = co_await connection->socket.async_read_some(asio::buffer(space.data(), space.size()),
                                                               redirect_error(use_awaitable, ec));
      if (ec) co_return lost(ec);
      connection->reader.filled(got);
    }
  }

  // A frame that has begun must end in time; between frames an open connection may be silent.
  void watch_frame(Connection& connection) {
    if (!connection.opened || connection.closing) return;
    if (!connection.reader.in_frame()) {
      connection.deadline = kNever;
    } else if (!connection.frame_began) {
      connection.frame_began = true;
      auto extra = std::chrono::milliseconds(connection.reader.wanted_bytes() / kLeastBytesPerMs);
      connection.deadline = now() + limits_.frame_deadline + extra;
    }
  }

  void queue_frame(ConnectionPtr connection, std::vector<std::byte> frame) {
    if (connection->ended) return;
    size_t written = 0;
    if (connection->queue.empty()) {  // the common case: one system call, no coroutine
      error_code ec;
      written = connection->socket.write_some(asio::buffer(frame), ec);
      if (ec && ec != asio::error::would_block && ec != asio::error::try_again)
        return end(connection, lost(ec).error());
      if (written == frame.size()) return;
      connection->front_done = written;
    }
    connection->queued_bytes += frame.size() - written;
    if (connection->queued_bytes > limits_.max_queued_bytes) {
      return end(connection, Error{ErrorCode::Unavailable, "the other side does not read"});
    }
    connection->queue.push_back(std::move(frame));
    if (!connection->writing) {
      connection->writing = true;
      asio::co_spawn(io_, write_queue(connection), asio::detached);
    }
  }

  awaitable<void> write_queue(ConnectionPtr connection) {
    while (!connection->queue.empty() && !connection->ended) {
      std::vector<std::byte>& front = connection->queue.front();
      error_code ec;
      size_t left = front.size() - connection->front_done;
      co_await asio::async_write(connection->socket, asio::buffer(front.data() + connection->front_done, left),
                                 redirect_error(use_awaitable, ec));
      if (ec) {
        end(connection, lost(ec).error());
        co_return;
      }
      connection->queued_bytes -= left;
      connection->front_done = 0;
      connection->queue.pop_front();
    }
    connection->writing = false;
    if (connection->closing) end(connection, Error{ErrorCode::Unavailable, connection->why_closing});
  }

  void refuse(const ConnectionPtr& connection, const Error& error) {
    queue_frame(connection, to_frame(RefusedMessage{error.message}));
    close_after_writing(connection, error.message);
  }

  void close_after_writing(ConnectionPtr connection, const std::string& why) {
    if (connection->closing || connection->ended) return;
    connection->closing = true;
    connection->why_closing = why;
    connection->deadline = now() + kClosingDeadline;
    if (!connection->writing) end(connection, Error{ErrorCode::Unavailable, why});
  }

  // By value: the caller's may be the one in the table.
  void end(ConnectionPtr connection, const Error& why) {
    if (connection->ended) return;
    connection->ended = true;
    error_code ec;
    connection->socket.shutdown(tcp::socket::shutdown_both, ec);
    connection->socket.close(ec);
    connections_.erase(connection->id);
    if (!connection->opened && !connection->outgoing) return;
    // Posted, since the owner may be in the middle of sending to it.
    asio::post(io_, [connection, why] { connection->handlers->closed(connection->id, why); });
  }

  awaitable<void> sweep() {
    asio::steady_timer timer(io_);
    for (;;) {
      error_code ec;
      timer.expires_after(kSweepEvery);
      co_await timer.async_wait(redirect_error(use_awaitable, ec));
      if (ec) co_return;
      end_overdue();
    }
  }

  void end_overdue() {
    std::vector<ConnectionPtr> overdue;
    SteadyTime time = now();
    for (const auto& [id, connection] : connections_) {
      if (connection->deadline <= time) overdue.push_back(connection);
    }
    for (const ConnectionPtr& connection : overdue) {
      end(connection, Error{ErrorCode::DeadlineExceeded,
                            connection->opened ? "a frame did not end in time" : "no greeting in time"});
    }
  }

  awaitable<void> wait_for_signals(std::function<void(int)> call) {
    for (;;) {
      error_code ec;
      int signal = co_await signals_.async_wait(redirect_error(use_awaitable, ec));
      if (ec) co_return;
      call(signal);
    }
  }

  EventLoopLimits limits_;
  asio::io_context io_{1};  // one thread: no locking inside Asio beyond what post needs
  asio::signal_set signals_;
  ConnectionId next_id_ = 1;
  std::unordered_map<ConnectionId, ConnectionPtr> connections_;
};

}  // namespace

std::unique_ptr<EventLoop> EventLoop::create(EventLoopLimits limits) { return std::make_unique<AsioLoop>(limits); }

}  // namespace farm
