// The client's side of a measuring session at a device.
#include <unordered_set>

#include "rpc/client.h"
#include "rpc/messages.h"
#include "rpc/socket.h"

namespace farm {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAnswerTimeout{5'000};
constexpr milliseconds kLookEvery{100};
// A measurement has its own limits at the device; this only catches a device that froze.
constexpr milliseconds kMeasureSlack{30'000};

Deadline from_now(milliseconds time) { return std::chrono::steady_clock::now() + time; }

// What shipping so much may take on a slow link, 1 MiB/s.
milliseconds transfer_time(size_t bytes) { return kAnswerTimeout + milliseconds(bytes >> 10); }

milliseconds longest_run(const MeasureRequest& request) {
  auto each = std::chrono::ceil<milliseconds>(request.policy.timeout);
  return kMeasureSlack + 2 * each * (static_cast<int64_t>(request.artifacts.size()) + 1);
}

class Client final : public DeviceClient {
 public:
  Client(SessionOpenedMessage opened, Socket socket) : opened_(std::move(opened)), socket_(std::move(socket)) {}

  const Target& target() const override { return opened_.target; }
  const std::string& device_id() const override { return opened_.device_id; }

  Status put_blob(std::span<const std::byte> bytes) override {
    if (bytes.size() > kMaxWireBlobBytes) {
      return fail(ErrorCode::InvalidArgument, "blob of ", bytes.size(), " bytes; at most ", kMaxWireBlobBytes,
                  " are shipped");
    }
    Hash hash = hash_bytes(bytes);
    if (shipped_.contains(hash)) return {};
    FARM_TRY(bool there, has_blob(hash));
    if (!there) {
      FARM_CHECK(answer_to(PutBlobMessage{next_request_++, {bytes.begin(), bytes.end()}}, transfer_time(bytes.size())));
    }
    shipped_.insert(hash);
    return {};
  }

  double sending_seconds() const override { return sending_seconds_; }

  Result<MeasureReply> measure(const MeasureRequest& request, const std::function<bool()>& while_waiting) override {
    FARM_CHECK(check_size(request));
    MeasureMessage message{next_request_++, request};
    auto frame = to_frame(message);
    auto begin = std::chrono::steady_clock::now();
    FARM_CHECK(socket_.send(frame, from_now(transfer_time(frame.size()))));
    sending_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    Deadline give_up = from_now(longest_run(request) + transfer_time(frame.size()));
    bool cancelled = false;
    while (std::chrono::steady_clock::now() < give_up) {
      auto answer = socket_.receive(from_now(kLookEvery));
      if (answer) {
        auto reply = read_reply(*answer, message.request);
        if (!reply && reply.error().code == ErrorCode::NotFound) shipped_.clear();  // the device dropped some
        if (cancelled) return fail(ErrorCode::Interrupted, "measurement cancelled");
        if (!reply) return std::unexpected(reply.error());
        if (*reply) return check_reply(std::move(**reply), request);
      } else if (answer.error().code != ErrorCode::DeadlineExceeded) {
        return std::unexpected(answer.error());
      }
      if (!cancelled && while_waiting && !while_waiting()) {
        cancelled = true;
        give_up = from_now(kAnswerTimeout);
        FARM_CHECK(socket_.send(to_frame(CancelMeasureMessage{message.request}), give_up));
      }
    }
    if (cancelled) return fail(ErrorCode::Interrupted, "measurement cancelled");
    return fail(ErrorCode::Unavailable, "device ", opened_.device_id, " does not answer");
  }

 private:
  static Status check_size(const MeasureRequest& request) {
    size_t bytes = 1 << 20;  // room for everything but the code
    for (const Artifact& artifact : request.artifacts) bytes += artifact.blob.size() + (16 << 10);
    if (bytes <= kMaxMeasureBytes) return {};
    return fail(ErrorCode::InvalidArgument, "measure request of ", bytes, " bytes; at most ", kMaxMeasureBytes,
                " are shipped");
  }

  static Result<std::optional<MeasureReply>> read_reply(const Frame& frame, uint32_t request) {
    if (frame.type == MessageType::Answer) {
      FARM_TRY(auto answer, open_frame<AnswerMessage>(frame));
      if (answer.request != request && answer.request != 0) return std::nullopt;
      if (!answer.ok) return std::unexpected(answer.error);
      return std::nullopt;
    }
    FARM_TRY(auto done, open_frame<MeasureDoneMessage>(frame));
    if (done.request != request) return std::nullopt;
    return std::move(done.reply);
  }

  Result<MeasureReply> check_reply(MeasureReply reply, const MeasureRequest& request) const {
    if (reply.measurements.size() == request.artifacts.size()) return reply;
    return fail(ErrorCode::Unavailable, "device ", opened_.device_id, " answered ", reply.measurements.size(),
                " measurements to ", request.artifacts.size(), " artifacts");
  }

  Result<bool> has_blob(const Hash& hash) {
    auto there = answer_to(HaveBlobMessage{next_request_++, hash}, kAnswerTimeout);
    if (there) return true;
    if (there.error().code == ErrorCode::NotFound) return false;
    return std::unexpected(there.error());
  }

  template <class Message>
  Status answer_to(const Message& message, milliseconds timeout) {
    Deadline deadline = from_now(timeout);
    FARM_CHECK(socket_.send(to_frame(message), deadline));
    for (;;) {
      FARM_TRY(auto frame, socket_.receive(deadline));
      FARM_TRY(auto answer, open_frame<AnswerMessage>(frame));
      if (answer.request != message.request && answer.request != 0) continue;
      if (!answer.ok) return std::unexpected(answer.error);
      return {};
    }
  }

  SessionOpenedMessage opened_;
  Socket socket_;
  uint32_t next_request_ = 1;
  double sending_seconds_ = 0;
  std::unordered_set<Hash> shipped_;
};

}  // namespace

Result<std::unique_ptr<DeviceClient>> DeviceClient::connect(const LeaseGrant& grant, milliseconds timeout) {
  Deadline deadline = from_now(timeout);
  auto reached = open_connection(grant.device, Role::Client, "session", deadline);
  if (!reached) {
    return fail(reached.error().code, "device ", grant.token.device_id, " at ", grant.device.text(), ": ",
                reached.error().message);
  }
  Socket socket = std::move(*reached);
  FARM_CHECK(socket.send(to_frame(OpenSessionMessage{grant.token}), deadline));
  FARM_TRY(auto frame, socket.receive(deadline));
  if (frame.type == MessageType::Answer) {
    FARM_TRY(auto answer, open_frame<AnswerMessage>(frame));
    return std::unexpected(answer.error);
  }
  FARM_TRY(auto opened, open_frame<SessionOpenedMessage>(frame));
  return std::make_unique<Client>(std::move(opened), std::move(socket));
}

}  // namespace farm
