#include "rpc/messages.h"

#include <algorithm>

namespace farm {
namespace {

using std::chrono::milliseconds;

// One list of fields a message serves both directions: writing ...
struct Writing {
  ByteWriter& out;
  void operator()(uint16_t& value) { out.u16(value); }
  void operator()(uint32_t& value) { out.u32(value); }
  void operator()(int32_t& value) { out.i32(value); }
  void operator()(uint64_t& value) { out.u64(value); }
  void operator()(double& value) { out.f64(value); }
  void operator()(bool& value) { out.boolean(value); }
  void operator()(Hash& value) { out.hash(value); }
  void operator()(milliseconds& value) {
    out.u32(static_cast<uint32_t>(std::clamp<int64_t>(value.count(), 0, UINT32_MAX)));
  }
  void text(std::string& value, size_t limit) { out.text(std::string_view(value).substr(0, limit)); }
  void bytes(std::vector<std::byte>& value, size_t) { out.bytes(value); }
  template <class Enum>
  void enumeration(Enum& value, Enum) {
    out.u8(static_cast<uint8_t>(value));
  }
  template <class Value>
  void value(Value& value) {
    encode(out, value);
  }
  template <class Item, class Fields>
  void list(std::vector<Item>& items, size_t, Fields fields) {
    out.count(items.size());
    for (Item& item : items) fields(*this, item);
  }
};

// ... and reading; the reader checks every length before it allocates.
struct Reading {
  ByteReader& in;
  void operator()(uint16_t& value) { value = in.u16(); }
  void operator()(uint32_t& value) { value = in.u32(); }
  void operator()(int32_t& value) { value = in.i32(); }
  void operator()(uint64_t& value) { value = in.u64(); }
  void operator()(double& value) { value = in.f64(); }
  void operator()(bool& value) { value = in.boolean(); }
  void operator()(Hash& value) { value = in.hash(); }
  void operator()(milliseconds& value) { value = milliseconds(in.u32()); }
  void text(std::string& value, size_t limit) { value = in.text(limit); }
  void bytes(std::vector<std::byte>& value, size_t limit) { value = in.bytes(limit); }
  template <class Enum>
  void enumeration(Enum& value, Enum last) {
    value = in.enumeration(last);
  }
  template <class Value>
  void value(Value& value) {
    decode(in, value);
  }
  template <class Item, class Fields>
  void list(std::vector<Item>& items, size_t limit, Fields fields) {
    items.clear();
    for (size_t left = in.count(limit, 4); left > 0 && in.ok(); --left) fields(*this, items.emplace_back());
  }
};

constexpr size_t kMaxListed = 100'000;  // devices, keys or leases in one status

// clang-format off: a table, one message a line
template <class Io> void fields(Io& io, Address& m) { io.text(m.host, kMaxNameBytes * 2); io(m.port); }
template <class Io> void fields(Io& io, LeaseToken& m) { io.text(m.device_id, kMaxNameBytes); io(m.epoch); io(m.secret); }
template <class Io> void fields(Io& io, Error& m) { io.enumeration(m.code, ErrorCode::Interrupted); io.text(m.message, kMaxMessageText); }
template <class Io> void fields(Io& io, LeaseGrant& m) { fields(io, m.token); fields(io, m.device); io(m.ttl); }
template <class Io> void fields(Io& io, DeviceInfo& m) {
  io.text(m.id, kMaxNameBytes); io.text(m.key, kMaxNameBytes); io.value(m.target); fields(io, m.address);
  io.text(m.state, kMaxNameBytes); io.text(m.holder, kMaxNameBytes);
}
template <class Io> void fields(Io& io, QueueInfo& m) { io.text(m.key, kMaxNameBytes); io(m.devices); io(m.free); io(m.waiting); }
template <class Io> void fields(Io& io, LeaseInfo& m) {
  io.text(m.device_id, kMaxNameBytes); io.text(m.key, kMaxNameBytes); io.text(m.holder, kMaxNameBytes); io(m.epoch); io(m.seconds_left);
}
template <class Io> void fields(Io& io, TrackerStatus& m) {
  io.list(m.devices, kMaxListed, [](Io& io, DeviceInfo& item) { fields(io, item); });
  io.list(m.queue, kMaxListed, [](Io& io, QueueInfo& item) { fields(io, item); });
  io.list(m.leases, kMaxListed, [](Io& io, LeaseInfo& item) { fields(io, item); });
}
template <class Io> void fields(Io& io, DeviceReport& m) {
  io.text(m.id, kMaxNameBytes); io(m.instance); io.text(m.key, kMaxNameBytes); io.value(m.target); fields(io, m.address);
  io(m.epoch); io(m.secret); io.text(m.holder, kMaxNameBytes); io(m.left);
}

template <class Io> void fields(Io& io, HelloMessage& m) { io.enumeration(m.role, Role::Device); io.text(m.name, kMaxNameBytes); }
template <class Io> void fields(Io& io, WelcomeMessage& m) { io.text(m.name, kMaxNameBytes); }
template <class Io> void fields(Io& io, RefusedMessage& m) { io.text(m.reason, kMaxMessageText - 4); }
template <class Io> void fields(Io& io, AnswerMessage& m) { io(m.request); io(m.ok); fields(io, m.error); }
template <class Io> void fields(Io& io, LeaseRequestMessage& m) { io(m.request); io.text(m.key, kMaxNameBytes); io(m.priority); io(m.unknown_key_wait_ms); }
template <class Io> void fields(Io& io, LeaseCancelMessage& m) { io(m.request); }
template <class Io> void fields(Io& io, LeaseRenewMessage& m) { io(m.request); fields(io, m.token); }
template <class Io> void fields(Io& io, LeaseReleaseMessage& m) { io(m.request); fields(io, m.token); }
template <class Io> void fields(Io& io, LeaseBadMessage& m) { io(m.request); fields(io, m.token); io.text(m.why, kMaxMessageText); }
template <class Io> void fields(Io& io, LeaseWaitingMessage& m) { io(m.request); io(m.position); io(m.devices); }
template <class Io> void fields(Io& io, LeaseGrantedMessage& m) { io(m.request); fields(io, m.grant); }
template <class Io> void fields(Io& io, StatusRequestMessage& m) { io(m.request); }
template <class Io> void fields(Io& io, StatusReplyMessage& m) { io(m.request); fields(io, m.status); }
template <class Io> void fields(Io& io, RegisterMessage& m) { fields(io, m.report); }
template <class Io> void fields(Io&, HeartbeatMessage&) {}
template <class Io> void fields(Io&, CheckInMessage&) {}
template <class Io> void fields(Io&, UnregisterMessage&) {}
template <class Io> void fields(Io& io, DeviceGrantMessage& m) { fields(io, m.token); io(m.ttl_ms); io.text(m.holder, kMaxNameBytes); }
template <class Io> void fields(Io& io, DeviceExtendMessage& m) { io(m.epoch); io(m.ttl_ms); }
template <class Io> void fields(Io& io, DeviceRevokeMessage& m) { io(m.epoch); io(m.check_in); }
template <class Io> void fields(Io& io, OpenSessionMessage& m) { fields(io, m.token); }
template <class Io> void fields(Io& io, SessionOpenedMessage& m) { io.text(m.device_id, kMaxNameBytes); io.value(m.target); }
template <class Io> void fields(Io& io, HaveBlobMessage& m) { io(m.request); io(m.hash); }
template <class Io> void fields(Io& io, PutBlobMessage& m) { io(m.request); io.bytes(m.bytes, kMaxWireBlobBytes); }
template <class Io> void fields(Io& io, MeasureMessage& m) { io(m.request); io.value(m.measure); }
template <class Io> void fields(Io& io, MeasureDoneMessage& m) { io(m.request); io.value(m.reply); }
template <class Io> void fields(Io& io, CancelMeasureMessage& m) { io(m.request); }
// clang-format on

struct TypeInfo {
  MessageType type;
  const char* name;
  size_t max_body;
};
constexpr TypeInfo kTypes[] = {
    {MessageType::Hello, "Hello", kMaxOpeningBytes},
    {MessageType::Welcome, "Welcome", kMaxOpeningBytes},
    {MessageType::Refused, "Refused", kMaxOpeningBytes},
    {MessageType::Answer, "Answer", kMaxSmallBytes},
    {MessageType::LeaseRequest, "LeaseRequest", kMaxSmallBytes},
    {MessageType::LeaseCancel, "LeaseCancel", kMaxSmallBytes},
    {MessageType::LeaseRenew, "LeaseRenew", kMaxSmallBytes},
    {MessageType::LeaseRelease, "LeaseRelease", kMaxSmallBytes},
    {MessageType::LeaseBad, "LeaseBad", kMaxSmallBytes},
    {MessageType::LeaseWaiting, "LeaseWaiting", kMaxSmallBytes},
    {MessageType::LeaseGranted, "LeaseGranted", kMaxSmallBytes},
    {MessageType::StatusRequest, "StatusRequest", kMaxSmallBytes},
    {MessageType::StatusReply, "StatusReply", kMaxStatusBytes},
    {MessageType::Register, "Register", kMaxSmallBytes},
    {MessageType::Heartbeat, "Heartbeat", 0},
    {MessageType::CheckIn, "CheckIn", 0},
    {MessageType::Unregister, "Unregister", 0},
    {MessageType::DeviceGrant, "DeviceGrant", kMaxSmallBytes},
    {MessageType::DeviceExtend, "DeviceExtend", kMaxSmallBytes},
    {MessageType::DeviceRevoke, "DeviceRevoke", kMaxSmallBytes},
    {MessageType::OpenSession, "OpenSession", kMaxSmallBytes},
    {MessageType::SessionOpened, "SessionOpened", kMaxSmallBytes},
    {MessageType::HaveBlob, "HaveBlob", kMaxSmallBytes},
    {MessageType::PutBlob, "PutBlob", kMaxWireBlobBytes + 8},
    {MessageType::Measure, "Measure", kMaxMeasureBytes},
    {MessageType::MeasureDone, "MeasureDone", kMaxMeasureBytes},
    {MessageType::CancelMeasure, "CancelMeasure", kMaxSmallBytes},
};

const TypeInfo* find_type(MessageType type) {
  auto at = std::find_if(std::begin(kTypes), std::end(kTypes), [&](const TypeInfo& info) { return info.type == type; });
  return at == std::end(kTypes) ? nullptr : at;
}

void write_header(ByteWriter& out, MessageType type, size_t length) {
  out.u32(kMagic);
  out.u16(kProtocolVersion);
  out.u16(static_cast<uint16_t>(type));
  out.u32(static_cast<uint32_t>(length));
}

}  // namespace

std::string to_string(MessageType type) {
  const TypeInfo* info = find_type(type);
  return info ? info->name : "message " + std::to_string(static_cast<int>(type));
}

size_t max_body_bytes(MessageType type) {
  const TypeInfo* info = find_type(type);
  return info ? info->max_body : 0;
}

bool is_known(MessageType type) { return find_type(type) != nullptr; }

template <class Message>
std::vector<std::byte> to_frame(const Message& message) {
  ByteWriter body;
  Writing io{body};
  fields(io, const_cast<Message&>(message));  // Writing changes nothing
  FARM_ASSERT(body.size() <= max_body_bytes(Message::kType), to_string(Message::kType), " of ", body.size(), " bytes");
  ByteWriter out;
  write_header(out, Message::kType, body.size());
  out.raw(body.view());
  return out.take();
}

template <class Message>
Result<Message> from_body(std::span<const std::byte> body) {
  ByteReader in(body);
  Reading io{in};
  Message message;
  fields(io, message);
  FARM_CHECK(in.finish(to_string(Message::kType)));
  return message;
}

#define FARM_MESSAGE(Message)                               \
  template std::vector<std::byte> to_frame(const Message&); \
  template Result<Message> from_body(std::span<const std::byte>);
FARM_MESSAGE(HelloMessage)
FARM_MESSAGE(WelcomeMessage)
FARM_MESSAGE(RefusedMessage)
FARM_MESSAGE(AnswerMessage)
FARM_MESSAGE(LeaseRequestMessage)
FARM_MESSAGE(LeaseCancelMessage)
FARM_MESSAGE(LeaseRenewMessage)
FARM_MESSAGE(LeaseReleaseMessage)
FARM_MESSAGE(LeaseBadMessage)
FARM_MESSAGE(LeaseWaitingMessage)
FARM_MESSAGE(LeaseGrantedMessage)
FARM_MESSAGE(StatusRequestMessage)
FARM_MESSAGE(StatusReplyMessage)
FARM_MESSAGE(RegisterMessage)
FARM_MESSAGE(HeartbeatMessage)
FARM_MESSAGE(CheckInMessage)
FARM_MESSAGE(UnregisterMessage)
FARM_MESSAGE(DeviceGrantMessage)
FARM_MESSAGE(DeviceExtendMessage)
FARM_MESSAGE(DeviceRevokeMessage)
FARM_MESSAGE(OpenSessionMessage)
FARM_MESSAGE(SessionOpenedMessage)
FARM_MESSAGE(HaveBlobMessage)
FARM_MESSAGE(PutBlobMessage)
FARM_MESSAGE(MeasureMessage)
FARM_MESSAGE(MeasureDoneMessage)
FARM_MESSAGE(CancelMeasureMessage)
#undef FARM_MESSAGE

}  // namespace farm
