// The client's side of the tracker: one blocking connection, made again where that is safe.
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "base/rng.h"
#include "base/text.h"
#include "rpc/client.h"
#include "rpc/messages.h"
#include "rpc/socket.h"

namespace farm {
namespace {

using std::chrono::milliseconds;
using Progress = std::function<bool(const QueuePosition&)>;

constexpr milliseconds kReconnectTimeout{2'000};
constexpr milliseconds kAnswerTimeout{5'000};
constexpr milliseconds kProgressEvery{1'000};
constexpr milliseconds kLookEvery{100};
// A tracker that was started again knows no device for so long.
constexpr milliseconds kDevicesReturn{10'000};

Deadline from_now(milliseconds time) { return std::chrono::steady_clock::now() + time; }

class Client final : public TrackerClient {
 public:
  Client(Address address, std::string user, Socket socket)
      : address_(std::move(address)),
        user_(std::move(user)),
        socket_(std::move(socket)),
        rng_(static_cast<uint64_t>(getpid()) ^
             static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count())) {}

  Result<LeaseGrant> lease(const std::string& key, int priority, milliseconds unknown_key_wait,
                           const Progress& progress) override {
    FARM_CHECK(check_device_key("device key", key));
    for (;; unknown_key_wait = std::max(unknown_key_wait, kDevicesReturn)) {
      FARM_CHECK(reconnect_patiently(progress));
      auto wait = static_cast<uint32_t>(std::clamp<int64_t>(unknown_key_wait.count(), 0, UINT32_MAX));
      LeaseRequestMessage request{next_request_++, key, priority, wait};
      auto grant = send(request, kAnswerTimeout) ? wait_for_grant(request.request, progress) : lost();
      // A tracker that went away forgot the request: ask again once it is back.
      if (grant || socket_ || grant.error().code == ErrorCode::Interrupted) return grant;
    }
  }

  Status renew(const LeaseToken& token) override { return ask(LeaseRenewMessage{0, token}); }
  Status release(const LeaseToken& token) override { return ask(LeaseReleaseMessage{0, token}); }
  Status report_bad(const LeaseToken& token, const std::string& why) override {
    return ask(LeaseBadMessage{0, token, why});
  }

  Result<TrackerStatus> status() override {
    FARM_TRY(auto frame, exchange(StatusRequestMessage{}));
    FARM_TRY(auto reply, open_frame<StatusReplyMessage>(frame));
    return std::move(reply.status);
  }

 private:
  static std::unexpected<Error> lost() {
    return fail(ErrorCode::Unavailable, "the connection to the tracker was lost");
  }

  Status reconnect() {
    if (socket_) return {};
    FARM_TRY(auto socket, open_connection(address_, Role::Client, user_, from_now(kReconnectTimeout)));
    socket_.emplace(std::move(socket));
    return {};
  }

  // Never gives up while `progress` lets it: 0.1 s at first, 5 s at most, jittered so that a farm's clients do not
  // all come at once.
  Status reconnect_patiently(const Progress& progress) {
    for (milliseconds pause{100};; pause = std::min(pause * 2, milliseconds(5'000))) {
      if (reconnect()) return {};
      QueuePosition away{.connected = false};
      if (progress && !progress(away)) return fail(ErrorCode::Interrupted, "cancelled while the tracker was away");
      Deadline until =
          from_now(milliseconds(static_cast<int64_t>(static_cast<double>(pause.count()) * (0.5 + rng_.uniform()))));
      while (std::chrono::steady_clock::now() < until) {
        std::this_thread::sleep_for(kLookEvery);
        if (progress && !progress(away)) return fail(ErrorCode::Interrupted, "cancelled while the tracker was away");
      }
    }
  }

  template <class Message>
  bool send(const Message& message, milliseconds timeout) {
    if (!socket_->send(to_frame(message), from_now(timeout))) socket_.reset();
    return socket_.has_value();
  }

  Result<LeaseGrant> wait_for_grant(uint32_t request, const Progress& progress) {
    QueuePosition position;
    Deadline report_at = from_now(milliseconds(0));
    for (;;) {
      auto frame = socket_->receive(from_now(kLookEvery));
      if (!frame && frame.error().code != ErrorCode::DeadlineExceeded) return socket_.reset(), lost();
      if (frame) {
        auto answer = read_lease_answer(*frame, request, position);
        if (!answer) return std::unexpected(answer.error());
        if (*answer) return std::move(**answer);
      }
      if (!progress || std::chrono::steady_clock::now() < report_at) continue;
      report_at = from_now(kProgressEvery);
      if (!progress(position)) return cancel(request);
    }
  }

  // The grant may already be on its way: then it is given back.
  Result<LeaseGrant> cancel(uint32_t request) {
    std::optional<LeaseGrant> grant;
    QueuePosition position;
    bool over = !send(LeaseCancelMessage{request}, kAnswerTimeout);
    for (Deadline deadline = from_now(kAnswerTimeout); !over;) {
      auto frame = socket_->receive(deadline);
      over = !frame || frame->type == MessageType::Answer;
      if (!frame) socket_.reset();
      if (!over) grant = read_lease_answer(*frame, request, position).value_or(std::nullopt);
    }
    if (grant) (void)release(grant->token);
    return fail(ErrorCode::Interrupted, "cancelled while waiting for a device");
  }

  // Nothing while it still waits.
  Result<std::optional<LeaseGrant>> read_lease_answer(const Frame& frame, uint32_t request, QueuePosition& position) {
    if (frame.type == MessageType::LeaseWaiting) {
      FARM_TRY(auto waiting, open_frame<LeaseWaitingMessage>(frame));
      if (waiting.request == request) position = {waiting.position, waiting.devices};
      return std::nullopt;
    }
    if (frame.type == MessageType::Answer) {
      FARM_TRY(auto answer, open_frame<AnswerMessage>(frame));
      if (answer.request != request || answer.ok) return std::nullopt;
      return std::unexpected(answer.error);
    }
    FARM_TRY(auto granted, open_frame<LeaseGrantedMessage>(frame));
    if (granted.request != request) return std::nullopt;
    return granted.grant;
  }

  // Asked again once on a new connection when the old one turns out to be gone: renewing, releasing and reporting
  // twice is the same as once.
  template <class Message>
  Result<Frame> exchange(Message message) {
    Result<Frame> frame = lost();
    for (int attempt = 0; attempt < 2; ++attempt) {
      if (auto connected = reconnect(); !connected) return std::unexpected(connected.error());
      message.request = next_request_++;
      if (!send(message, kAnswerTimeout)) continue;
      frame = receive_answer(message.request);
      if (frame || frame.error().code == ErrorCode::DeadlineExceeded) return frame;
      socket_.reset();
    }
    return frame;
  }

  Result<Frame> receive_answer(uint32_t request) {
    Deadline deadline = from_now(kAnswerTimeout);
    for (;;) {
      FARM_TRY(auto frame, socket_->receive(deadline));
      if (frame.type == MessageType::StatusReply) return frame;
      if (frame.type != MessageType::Answer) continue;
      FARM_TRY(auto answer, open_frame<AnswerMessage>(frame));
      if (answer.request == request) return frame;
    }
  }

  template <class Message>
  Status ask(const Message& message) {
    FARM_TRY(auto frame, exchange(message));
    FARM_TRY(auto answer, open_frame<AnswerMessage>(frame));
    if (!answer.ok) return std::unexpected(answer.error);
    return {};
  }

  Address address_;
  std::string user_;
  std::optional<Socket> socket_;
  Rng rng_;
  uint32_t next_request_ = 1;
};

}  // namespace

Result<std::unique_ptr<TrackerClient>> TrackerClient::connect(const Address& tracker, milliseconds timeout,
                                                              std::string user) {
  user.resize(std::min(user.size(), kMaxNameBytes));
  auto socket = open_connection(tracker, Role::Client, user, from_now(timeout));
  if (!socket) {
    return fail(socket.error().code, "no tracker answers at ", printable(tracker.text()), ": ", socket.error().message,
                "; start one with `tracker --port ", tracker.port, "` or name another with --tracker HOST:PORT");
  }
  return std::make_unique<Client>(tracker, std::move(user), std::move(*socket));
}

}  // namespace farm
