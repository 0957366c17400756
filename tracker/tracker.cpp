// The sessions of clients and devices: messages become calls of the lease table, its events become messages.
#include "tracker/tracker.h"

#include <sys/random.h>

#include "base/log.h"
#include "base/text.h"

namespace farm {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTickEvery{500};

uint64_t random_number() {
  uint64_t number = 0;
  FARM_ASSERT(getrandom(&number, sizeof number, 0) == sizeof number, "the system gives no random numbers");
  return number;
}

// Higher than all epochs of trackers that ran before, since none grants a thousand leases a millisecond. Where the wall
// clock was set back, the devices' own reports raise it.
uint64_t epoch_after_restart() {
  auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<milliseconds>(since_1970).count()) * 1000;
}

uint32_t count_ms(milliseconds time) { return static_cast<uint32_t>(time.count()); }

class Service final : public Tracker {
 public:
  Service(EventLoop& loop, const Clock& clock, const LeaseTableOptions& options)
      : loop_(loop), clock_(clock), table_(options, random_number) {}
  ~Service() override { *alive_ = false; }

  const Address& address() const override { return address_; }

  Status listen(const Address& address) {
    ConnectionHandlers handlers;
    handlers.opened = [this](ConnectionId peer, Role role, const std::string& name, const std::string& from) -> Status {
      peers_[peer] = {role, name, from};
      return {};
    };
    handlers.frame = [this](ConnectionId peer, Frame frame) { on_frame(peer, frame); };
    handlers.closed = [this](ConnectionId peer, const Error& why) { on_closed(peer, why); };
    FARM_TRY(address_, loop_.listen(address, "tracker", std::move(handlers)));
    tick_for_ever();
    return {};
  }

 private:
  struct Peer {
    Role role = Role::Client;
    std::string name, from;
    std::string device_id;
  };

  void tick_for_ever() {
    loop_.after(kTickEvery, [this, alive = alive_] {
      if (!*alive) return;
      table_.tick(clock_.now());
      send_events();
      tick_for_ever();
    });
  }

  void on_frame(PeerId id, const Frame& frame) {
    Peer& peer = peers_[id];
    Status understood = peer.role == Role::Client ? on_client_frame(id, peer, frame) : on_device_frame(id, peer, frame);
    send_events();
    if (understood) return;
    log_event(LogLevel::Warning, "peer_dropped",
              {{"peer", printable(peer.name)}, {"from", peer.from}, {"why", understood.error().message}});
    loop_.close(id, understood.error().message);
  }

  void on_closed(PeerId id, const Error& why) {
    const Peer& peer = peers_[id];
    if (!peer.device_id.empty()) {
      log_event(LogLevel::Info, "device_disconnected", {{"device", printable(peer.device_id)}, {"why", why.message}});
    }
    peers_.erase(id);
    table_.peer_gone(id, clock_.now());
    send_events();
  }

  // --- clients -------------------------------------------------------------------------------------------------------

  Status on_client_frame(PeerId id, const Peer& peer, const Frame& frame) {
    switch (frame.type) {
      case MessageType::LeaseRequest:
        return on_lease_request(id, peer, frame);
      case MessageType::LeaseCancel: {
        FARM_TRY(auto message, open_frame<LeaseCancelMessage>(frame));
        table_.cancel(id, message.request);
        return answer(id, message.request, {});
      }
      case MessageType::LeaseRenew: {
        FARM_TRY(auto message, open_frame<LeaseRenewMessage>(frame));
        return answer(id, message.request, table_.renew(id, message.token, clock_.now()));
      }
      case MessageType::LeaseRelease: {
        FARM_TRY(auto message, open_frame<LeaseReleaseMessage>(frame));
        return answer(id, message.request, table_.release(id, message.token, clock_.now()));
      }
      case MessageType::LeaseBad:
        return on_lease_bad(id, peer, frame);
      case MessageType::StatusRequest: {
        FARM_TRY(auto message, open_frame<StatusRequestMessage>(frame));
        loop_.send_message(id, StatusReplyMessage{message.request, table_.status(clock_.now())});
        return {};
      }
      default:
        return fail(ErrorCode::Corrupt, to_string(frame.type), " from a client");
    }
  }

  Status on_lease_request(PeerId id, const Peer& peer, const Frame& frame) {
    FARM_TRY(auto message, open_frame<LeaseRequestMessage>(frame));
    LeaseWish wish{message.request, message.key, printable(peer.name), message.priority,
                   milliseconds(message.unknown_key_wait_ms)};
    Status queued = table_.request(id, wish, clock_.now());
    return queued ? queued : answer(id, message.request, queued);
  }

  Status on_lease_bad(PeerId id, const Peer& peer, const Frame& frame) {
    FARM_TRY(auto message, open_frame<LeaseBadMessage>(frame));
    Status done = table_.report_bad(id, message.token, clock_.now());
    if (done) {
      log_event(LogLevel::Warning, "device_set_aside",
                {{"device", message.token.device_id}, {"by", printable(peer.name)}, {"why", printable(message.why)}});
    }
    return answer(id, message.request, done);
  }

  Status answer(PeerId id, uint32_t request, const Status& status) {
    // The device is told first, so that what the client does next finds it informed.
    send_events();
    AnswerMessage message{request, status.has_value(), {}};
    if (!status) message.error = status.error();
    loop_.send_message(id, message);
    return {};
  }

  // --- devices -------------------------------------------------------------------------------------------------------

  Status on_device_frame(PeerId id, Peer& peer, const Frame& frame) {
    switch (frame.type) {
      case MessageType::Register:
        return on_register(id, peer, frame);
      case MessageType::Heartbeat:
        table_.heartbeat(id, clock_.now());
        loop_.send_message(id, HeartbeatMessage{});
        return {};
      case MessageType::CheckIn:
        table_.check_in(id, clock_.now());
        return {};
      case MessageType::Unregister:
        table_.unregister(id, clock_.now());
        return {};
      default:
        return fail(ErrorCode::Corrupt, to_string(frame.type), " from a device");
    }
  }

  Status on_register(PeerId id, Peer& peer, const Frame& frame) {
    FARM_TRY(auto message, open_frame<RegisterMessage>(frame));
    DeviceReport& report = message.report;
    if (report.address.host.empty()) report.address.host = peer.from;
    Status registered = table_.register_device(id, report, clock_.now());
    if (registered) {
      peer.device_id = report.id;
      log_event(LogLevel::Info, "device_registered",
                {{"device", report.id},
                 {"key", report.key},
                 {"target", printable(report.target.text())},
                 {"address", printable(report.address.text())}});
    } else {
      log_event(LogLevel::Warning, "device_refused",
                {{"device", printable(report.id)}, {"why", registered.error().message}});
    }
    return answer(id, 0, registered);
  }

  // --- events --------------------------------------------------------------------------------------------------------

  void send_events() {
    for (const TableEvent& event : table_.take_events()) {
      std::visit([this](const auto& one) { send_event(one); }, event);
    }
  }

  void send_event(const GrantToDevice& e) {
    loop_.send_message(e.device, DeviceGrantMessage{e.token, count_ms(e.ttl), e.holder});
  }
  void send_event(const ExtendAtDevice& e) {
    loop_.send_message(e.device, DeviceExtendMessage{e.epoch, count_ms(e.ttl)});
  }
  void send_event(const RevokeAtDevice& e) { loop_.send_message(e.device, DeviceRevokeMessage{e.epoch, e.check_in}); }
  void send_event(const GrantToClient& e) {
    loop_.send_message(e.client, LeaseGrantedMessage{e.request, e.grant});
    log_event(LogLevel::Debug, "lease_granted",
              {{"device", e.grant.token.device_id}, {"epoch", std::to_string(e.grant.token.epoch)}});
  }
  void send_event(const RefuseRequest& e) { loop_.send_message(e.client, AnswerMessage{e.request, false, e.error}); }
  void send_event(const TellPosition& e) {
    loop_.send_message(e.client, LeaseWaitingMessage{e.request, e.position.position, e.position.devices});
  }
  void send_event(const DropPeer& e) { loop_.close(e.peer, "silent for too long, or replaced by a newer connection"); }

  EventLoop& loop_;
  const Clock& clock_;
  LeaseTable table_;
  Address address_;
  std::unordered_map<PeerId, Peer> peers_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace

Result<std::unique_ptr<Tracker>> Tracker::start(EventLoop& loop, const Clock& clock, TrackerOptions options) {
  options.table.first_epoch = epoch_after_restart();
  auto service = std::make_unique<Service>(loop, clock, options.table);
  FARM_CHECK(service->listen(options.listen));
  return service;
}

}  // namespace farm
