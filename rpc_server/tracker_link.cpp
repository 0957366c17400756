#include "rpc_server/tracker_link.h"

#include <unistd.h>

#include <algorithm>

#include "base/log.h"
#include "base/text.h"

namespace farm {

using std::chrono::milliseconds;

constexpr milliseconds kConnectTimeout{5'000};
constexpr milliseconds kFirstPause{100}, kLongestPause{5'000};

TrackerLink::TrackerLink(EventLoop& loop, const Clock& clock, TrackerLinkOptions options, Handlers handlers)
    : loop_(loop),
      clock_(clock),
      options_(std::move(options)),
      handlers_(std::move(handlers)),
      rng_(hash_text(options_.name).bytes[0] ^ static_cast<uint64_t>(getpid())),
      pause_(kFirstPause) {
  connect();
  beat_for_ever();
}

TrackerLink::~TrackerLink() {
  *alive_ = false;
  if (registered_) loop_.send_message(connection_, UnregisterMessage{});
  loop_.close(connection_, "the device server ends");
}

void TrackerLink::check_in() {
  if (registered_) loop_.send_message(connection_, CheckInMessage{});
}

void TrackerLink::connect() {
  ConnectionHandlers handlers;
  handlers.opened = [this, alive = alive_](ConnectionId connection, Role, const std::string&,
                                           const std::string&) -> Status {
    if (!*alive) return {};
    heard_ = clock_.now();
    loop_.send_message(connection, RegisterMessage{handlers_.report()});
    return {};
  };
  handlers.frame = [this, alive = alive_](ConnectionId connection, Frame frame) {
    if (!*alive || connection != connection_) return;
    heard_ = clock_.now();
    Status understood = on_frame(frame);
    if (!understood && *alive) loop_.close(connection, understood.error().message);
  };
  handlers.closed = [this, alive = alive_](ConnectionId connection, const Error& why) {
    if (*alive && connection == connection_) on_closed(why);
  };
  connection_ = loop_.connect(options_.tracker, Role::Device, options_.name, kConnectTimeout, std::move(handlers));
}

// 0.1 s at first, 5 s at most, jittered so that a farm's devices do not all come back in one moment.
void TrackerLink::connect_again() {
  auto pause = milliseconds(static_cast<int64_t>(static_cast<double>(pause_.count()) * (0.5 + rng_.uniform())));
  pause_ = std::min(2 * pause_, kLongestPause);
  loop_.after(std::min(pause, kLongestPause), [this, alive = alive_] {
    if (*alive) connect();
  });
}

Status TrackerLink::on_frame(const Frame& frame) {
  switch (frame.type) {
    case MessageType::Answer:
      return on_answer(frame);
    case MessageType::Heartbeat:
      return {};
    case MessageType::DeviceGrant: {
      FARM_TRY(auto message, open_frame<DeviceGrantMessage>(frame));
      handlers_.grant(message);
      return {};
    }
    case MessageType::DeviceExtend: {
      FARM_TRY(auto message, open_frame<DeviceExtendMessage>(frame));
      handlers_.extend(message);
      return {};
    }
    case MessageType::DeviceRevoke: {
      FARM_TRY(auto message, open_frame<DeviceRevokeMessage>(frame));
      handlers_.revoke(message);
      return {};
    }
    default:
      return fail(ErrorCode::Corrupt, to_string(frame.type), " from a tracker");
  }
}

Status TrackerLink::on_answer(const Frame& frame) {
  FARM_TRY(auto answer, open_frame<AnswerMessage>(frame));
  if (!answer.ok) return fail(answer.error.code, "registration refused: ", printable(answer.error.message));
  registered_ = true;
  said_lost_ = false;
  pause_ = kFirstPause;
  log_event(LogLevel::Info, "registered", {{"tracker", options_.tracker.text()}, {"id", options_.name}});
  if (handlers_.registered) handlers_.registered();
  return {};
}

void TrackerLink::on_closed(const Error& why) {
  registered_ = false;
  connection_ = 0;
  if (!said_lost_)
    log_event(LogLevel::Warning, "tracker_away", {{"tracker", options_.tracker.text()}, {"why", why.message}});
  said_lost_ = true;  // once: it may be away for a day
  connect_again();
}

void TrackerLink::beat_for_ever() {
  loop_.after(options_.heartbeat, [this, alive = alive_] {
    if (!*alive) return;
    if (registered_) {
      loop_.send_message(connection_, HeartbeatMessage{});
      if (clock_.now() - heard_ >= options_.silence) loop_.close(connection_, "the tracker is silent");
    }
    beat_for_ever();
  });
}

}  // namespace farm
