// Sessions of clients at a device: admitted by the lease's token, one at a time, over when the lease is.
#include <sys/random.h>
#include <unistd.h>

#include <map>

#include "base/log.h"
#include "base/text.h"
#include "rpc_server/blob_cache.h"
#include "rpc_server/lease_fence.h"
#include "rpc_server/measure_worker.h"
#include "rpc_server/rpc_server.h"
#include "rpc_server/tracker_link.h"

namespace farm {
namespace {

using std::chrono::milliseconds;

// Rarely while all is quiet: each look wakes a core that may be measuring.
constexpr milliseconds kLookEvery{500}, kLookOftenEvery{50};
constexpr milliseconds kTokenDeadline{5'000};  // from the greeting to the token
constexpr milliseconds kGrantDeadline{2'000};  // from the token to the tracker's word on it
constexpr size_t kMaxVisitors = 64;            // connections without a session

std::string host_name() {
  char name[256] = "host";
  gethostname(name, sizeof name - 1);
  return name;
}

uint64_t random_number() {
  uint64_t number = 0;
  FARM_ASSERT(getrandom(&number, sizeof number, 0) == sizeof number, "the system gives no random numbers");
  return number;
}

class Server final : public DeviceServer {
 public:
  Server(EventLoop& loop, Device& device, const Clock& clock, DeviceServerOptions options)
      : loop_(loop),
        device_(device),
        clock_(clock),
        options_(std::move(options)),
        blobs_(options_.max_blob_bytes),
        worker_(device) {}
  ~Server() override { *alive_ = false; }

  const Address& address() const override { return address_; }
  const std::string& id() const override { return options_.id; }
  void on_registered(std::function<void()> call) override { registered_ = std::move(call); }

  Status begin() {
    FARM_TRY(address_, loop_.listen(options_.listen, "device", session_handlers()));
    if (options_.id.empty()) options_.id = options_.key + "@" + host_name() + ":" + std::to_string(address_.port);
    link_.emplace(loop_, clock_,
                  TrackerLinkOptions{options_.tracker, options_.id, options_.heartbeat, options_.tracker_silence},
                  link_handlers());
    look_for_ever();
    return {};
  }

 private:
  // A connection that has no session (yet).
  struct Visitor {
    Clock::time_point until;
    std::optional<LeaseToken> token;
  };

  ConnectionHandlers session_handlers() {
    ConnectionHandlers handlers;
    handlers.opened = [this](ConnectionId id, Role role, const std::string&, const std::string&) -> Status {
      if (role != Role::Client) return fail(ErrorCode::InvalidArgument, "this is a device; a tracker is wanted");
      if (visitors_.size() >= kMaxVisitors) return fail(ErrorCode::Unavailable, "too many connections");
      visitors_[id] = {clock_.now() + kTokenDeadline, std::nullopt};
      return {};
    };
    handlers.frame = [this](ConnectionId id, Frame frame) {
      Status understood = on_frame(id, frame);
      if (!understood) loop_.close(id, understood.error().message);
    };
    handlers.closed = [this](ConnectionId id, const Error& why) {
      visitors_.erase(id);
      if (id == session_) end_session(why.message);
    };
    return handlers;
  }

  TrackerLink::Handlers link_handlers() {
    return {
        .report = [this] { return report(); },
        .grant = [this](const DeviceGrantMessage& m) { on_grant(m); },
        .extend =
            [this](const DeviceExtendMessage& m) { fence_.extend(m.epoch, milliseconds(m.ttl_ms), clock_.now()); },
        .revoke = [this](const DeviceRevokeMessage& m) { on_revoke(m); },
        .registered =
            [this] {
              if (registered_) registered_();
            },
    };
  }

  // --- the lease -----------------------------------------------------------------------------------------------------

  DeviceReport report() {
    DeviceReport report;
    report.id = options_.id;
    report.instance = instance_;
    report.key = options_.key;
    report.target = device_.target();
    report.address = address_;
    // Listening on all interfaces, it does not know its own name: the tracker saw where it came from.
    if (address_.host == "0.0.0.0" || address_.host == "::") report.address.host.clear();
    fence_.describe(report, clock_.now());
    return report;
  }

  void on_grant(const DeviceGrantMessage& message) {
    if (message.token.device_id != options_.id) return;
    if (!fence_.grant(message.token, message.holder, milliseconds(message.ttl_ms), clock_.now())) return;
    end_session("a newer lease began");
    admit_visitors();
  }

  void on_revoke(const DeviceRevokeMessage& message) {
    if (fence_.revoke(message.epoch)) end_session("the lease was taken back");
    owes_check_in_ = owes_check_in_ || message.check_in;
    check_in_when_idle();
  }

  void check_in_when_idle() {
    if (!owes_check_in_ || measuring_) return;
    owes_check_in_ = false;
    link_->check_in();
  }

  void look_for_ever() {
    bool awaits_something = !visitors_.empty() || cancelling_;
    loop_.after(awaits_something ? kLookOftenEvery : kLookEvery, [this, alive = alive_] {
      if (!*alive) return;
      if (fence_.expire(clock_.now())) end_session("the lease ran out");
      if (measuring_ && cancelling_) worker_.cancel();
      admit_visitors();
      look_for_ever();
    });
  }

  // --- sessions ------------------------------------------------------------------------------------------------------

  void admit_visitors() {
    std::vector<ConnectionId> ids;
    for (const auto& [id, visitor] : visitors_) ids.push_back(id);
    for (ConnectionId id : ids) admit(id);
  }

  void admit(ConnectionId id) {
    auto at = visitors_.find(id);
    if (at == visitors_.end()) return;
    const Visitor& visitor = at->second;
    bool overdue = visitor.until <= clock_.now();
    if (!visitor.token) {
      if (overdue) turn_away(id, Error{ErrorCode::DeadlineExceeded, "no lease token in time"});
      return;
    }
    Admission admission = fence_.admit(*visitor.token, clock_.now());
    if (admission == Admission::Stale || (admission == Admission::NotYet && overdue)) {
      turn_away(id, Error{ErrorCode::Unavailable,
                          "stale epoch " + std::to_string(visitor.token->epoch) + " at device " + options_.id});
    } else if (admission == Admission::Yes && !measuring_) {  // a cancelled measurement may take a moment to end
      open_session(id);
    }
  }

  void turn_away(ConnectionId id, const Error& error) {
    visitors_.erase(id);
    loop_.send_message(id, AnswerMessage{0, false, error});
    loop_.close(id, error.message);
  }

  // The newest connection with the token wins: the older one may be half open.
  void open_session(ConnectionId id) {
    visitors_.erase(id);
    end_session("replaced by a newer connection");
    session_ = id;
    loop_.send_message(id, SessionOpenedMessage{options_.id, device_.target()});
    log_event(LogLevel::Debug, "session_opened", {{"epoch", std::to_string(fence_.running_epoch())}});
  }

  void end_session(const std::string& why) {
    if (!session_) return;
    ConnectionId session = std::exchange(session_, 0);
    blobs_.clear();
    if (measuring_) {
      cancelling_ = true;
      worker_.cancel();
    }
    loop_.send_message(session, AnswerMessage{0, false, {ErrorCode::Unavailable, "session ended: " + why}});
    loop_.close(session, why);
    log_event(LogLevel::Debug, "session_ended", {{"why", why}});
  }

  Status on_frame(ConnectionId id, const Frame& frame) {
    if (id != session_) return on_visitor_frame(id, frame);
    switch (frame.type) {
      case MessageType::HaveBlob: {
        FARM_TRY(auto message, open_frame<HaveBlobMessage>(frame));
        Status there =
            blobs_.get(message.hash) ? Status{} : fail(ErrorCode::NotFound, "no blob ", to_string(message.hash));
        return answer(id, message.request, there);
      }
      case MessageType::PutBlob: {
        FARM_TRY(auto message, open_frame<PutBlobMessage>(frame));
        return answer(id, message.request, blobs_.put(std::move(message.bytes)));
      }
      case MessageType::Measure:
        return on_measure(id, frame);
      case MessageType::CancelMeasure: {
        FARM_TRY(auto message, open_frame<CancelMeasureMessage>(frame));
        if (measuring_ && measuring_request_ == message.request) {
          cancelling_ = true;
          worker_.cancel();
        }
        return {};
      }
      default:
        return fail(ErrorCode::Corrupt, to_string(frame.type), " in a session");
    }
  }

  Status on_visitor_frame(ConnectionId id, const Frame& frame) {
    FARM_TRY(auto message, open_frame<OpenSessionMessage>(frame));
    auto at = visitors_.find(id);
    if (at == visitors_.end() || at->second.token) return fail(ErrorCode::Corrupt, "a second token");
    at->second = {clock_.now() + kGrantDeadline, message.token};
    admit(id);
    return {};
  }

  Status answer(ConnectionId id, uint32_t request, const Status& status) {
    AnswerMessage message{request, status.has_value(), {}};
    if (!status) message.error = status.error();
    loop_.send_message(id, message);
    return {};
  }

  // --- measuring -----------------------------------------------------------------------------------------------------

  Status on_measure(ConnectionId id, const Frame& frame) {
    FARM_TRY(auto message, open_frame<MeasureMessage>(frame));
    if (measuring_) return answer(id, message.request, fail(ErrorCode::Unavailable, "a measurement runs already"));
    auto blobs = named_blobs(message.measure.inputs);
    if (!blobs) return answer(id, message.request, std::unexpected(blobs.error()));
    measuring_ = true;
    cancelling_ = false;
    measuring_request_ = message.request;
    worker_.start(std::move(message.measure), std::move(*blobs),
                  [this, id, request = message.request](Result<MeasureReply> reply) {
                    auto shared = std::make_shared<Result<MeasureReply>>(std::move(reply));
                    loop_.post([this, alive = alive_, id, request, shared] {
                      if (*alive) on_measured(id, request, *shared);
                    });
                  });
    return {};
  }

  Result<std::unordered_map<Hash, Blob>> named_blobs(const InputSet& inputs) {
    std::unordered_map<Hash, Blob> blobs;
    for (const Hash& hash : {inputs.expected, inputs.terms}) {
      if (hash == Hash{}) continue;
      Blob blob = blobs_.get(hash);
      if (!blob)
        return fail(ErrorCode::NotFound, "no blob ", to_string(hash), " at device ", options_.id, "; put it again");
      blobs[hash] = blob;
    }
    return blobs;
  }

  void on_measured(ConnectionId id, uint32_t request, Result<MeasureReply>& reply) {
    measuring_ = cancelling_ = false;
    if (id == session_) {
      if (reply) {
        loop_.send_message(id, MeasureDoneMessage{request, std::move(*reply)});
      } else {
        answer(id, request, std::unexpected(reply.error()));
      }
    }
    check_in_when_idle();
    admit_visitors();
  }

  EventLoop& loop_;
  Device& device_;
  const Clock& clock_;
  DeviceServerOptions options_;
  Address address_;
  uint64_t instance_ = random_number();
  std::function<void()> registered_;
  LeaseFence fence_;
  BlobCache blobs_;
  std::map<ConnectionId, Visitor> visitors_;
  ConnectionId session_ = 0;
  bool measuring_ = false, cancelling_ = false, owes_check_in_ = false;
  uint32_t measuring_request_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::optional<TrackerLink> link_;
  MeasureWorker worker_;  ///< last: ends before what its `done` uses
};

}  // namespace

Result<std::unique_ptr<DeviceServer>> DeviceServer::start(EventLoop& loop, Device& device, const Clock& clock,
                                                          DeviceServerOptions options) {
  auto server = std::make_unique<Server>(loop, device, clock, std::move(options));
  FARM_CHECK(server->begin());
  return server;
}

}  // namespace farm
