#include "rpc/frame.h"

#include "base/rng.h"
#include "testing.h"

namespace farm {
namespace {

using Bytes = std::vector<std::byte>;

void feed(FrameReader& reader, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    auto space = reader.space();
    size_t part = std::min(space.size(), bytes.size());
    std::copy_n(bytes.begin(), part, space.begin());
    reader.filled(part);
    bytes = bytes.subspan(part);
  }
}

Bytes header(uint32_t magic, uint16_t version, uint16_t type, uint32_t length) {
  ByteWriter out;
  out.u32(magic);
  out.u16(version);
  out.u16(type);
  out.u32(length);
  return out.take();
}

std::string refusal(const Bytes& bytes) {
  FrameReader reader;
  feed(reader, bytes);
  auto next = reader.next();
  return next ? "" : next.error().message;
}

TrackerStatus some_status() {
  TrackerStatus status;
  Target target;
  target.isa = "x86-64-v3";
  target.cpu = "znver3";
  target.features = {"avx2", "fma"};
  status.devices.push_back({"b1", "board", target, {"10.0.0.1", 4000}, "free", ""});
  status.queue.push_back({"board", 1, 1, 0});
  status.leases.push_back({"b1", "board", "alice", 7, 12.5});
  return status;
}

// Every kind of message once, as a frame.
std::vector<Bytes> one_of_each() {
  LeaseToken token{"b1", 7, 99};
  DeviceReport report;
  report.id = "b1";
  report.key = "board";
  report.left = std::chrono::seconds(3);
  MeasureRequest request;
  request.artifacts.resize(2);
  request.artifacts[0].blob = Bytes(100);
  MeasureReply reply;
  reply.measurements.resize(2);
  reply.measurements[0].samples_ns = {1, 2, 3};
  return {
      to_frame(HelloMessage{Role::Device, "b1"}),
      to_frame(WelcomeMessage{"tracker"}),
      to_frame(RefusedMessage{"no"}),
      to_frame(AnswerMessage{1, false, {ErrorCode::NotFound, "no"}}),
      to_frame(LeaseRequestMessage{1, "board", -3, 500}),
      to_frame(LeaseCancelMessage{1}),
      to_frame(LeaseRenewMessage{1, token}),
      to_frame(LeaseReleaseMessage{1, token}),
      to_frame(LeaseBadMessage{1, token, "broke"}),
      to_frame(LeaseWaitingMessage{1, 2, 3}),
      to_frame(LeaseGrantedMessage{1, {token, {"10.0.0.1", 4000}, std::chrono::seconds(15)}}),
      to_frame(StatusRequestMessage{1}),
      to_frame(StatusReplyMessage{1, some_status()}),
      to_frame(RegisterMessage{report}),
      to_frame(HeartbeatMessage{}),
      to_frame(CheckInMessage{}),
      to_frame(UnregisterMessage{}),
      to_frame(DeviceGrantMessage{token, 15000, "alice"}),
      to_frame(DeviceExtendMessage{7, 15000}),
      to_frame(DeviceRevokeMessage{7, true}),
      to_frame(OpenSessionMessage{token}),
      to_frame(SessionOpenedMessage{"b1", {}}),
      to_frame(HaveBlobMessage{1, hash_text("x")}),
      to_frame(PutBlobMessage{1, Bytes(5)}),
      to_frame(MeasureMessage{1, request}),
      to_frame(MeasureDoneMessage{1, reply}),
      to_frame(CancelMeasureMessage{1}),
  };
}

// Whether the body is a message of its type, asked of every decoder there is.
bool decodes(const Frame& frame) {
  bool any = false;
  auto attempt = [&]<class Message>(Message*) {
    any = any || (frame.type == Message::kType && from_body<Message>(frame.body));
  };
  auto all = [&]<class... Messages>(Messages*... each) { (attempt(each), ...); };
  all((HelloMessage*)0, (WelcomeMessage*)0, (RefusedMessage*)0, (AnswerMessage*)0, (LeaseRequestMessage*)0,
      (LeaseCancelMessage*)0, (LeaseRenewMessage*)0, (LeaseReleaseMessage*)0, (LeaseBadMessage*)0,
      (LeaseWaitingMessage*)0, (LeaseGrantedMessage*)0, (StatusRequestMessage*)0, (StatusReplyMessage*)0,
      (RegisterMessage*)0, (HeartbeatMessage*)0, (CheckInMessage*)0, (UnregisterMessage*)0, (DeviceGrantMessage*)0,
      (DeviceExtendMessage*)0, (DeviceRevokeMessage*)0, (OpenSessionMessage*)0, (SessionOpenedMessage*)0,
      (HaveBlobMessage*)0, (PutBlobMessage*)0, (MeasureMessage*)0, (MeasureDoneMessage*)0, (CancelMeasureMessage*)0);
  return any;
}

}  // namespace

TEST_CASE("every message comes back from its frame, whole or byte by byte") {
  auto frames = one_of_each();
  REQUIRE(frames.size() == 27);
  FrameReader reader;
  for (const Bytes& bytes : frames) {
    for (std::byte one : bytes) feed(reader, {&one, 1});
    auto frame = reader.next();
    REQUIRE(frame);
    REQUIRE(*frame);
    INFO(to_string((*frame)->type));
    CHECK(decodes(**frame));
    CHECK_FALSE(reader.in_frame());
  }
}

TEST_CASE("several frames in one read come out in order") {
  FrameReader reader;
  Bytes both = to_frame(LeaseCancelMessage{1});
  Bytes second = to_frame(LeaseCancelMessage{2});
  both.insert(both.end(), second.begin(), second.end());
  feed(reader, both);
  for (uint32_t request : {1u, 2u}) {
    auto frame = reader.next();
    REQUIRE((frame && *frame));
    CHECK(open_frame<LeaseCancelMessage>(**frame)->request == request);
  }
  auto none = reader.next();
  REQUIRE(none);
  CHECK_FALSE(*none);
}

TEST_CASE("values survive the wire") {
  FrameReader reader;
  feed(reader, to_frame(StatusReplyMessage{9, some_status()}));
  auto frame = reader.next();
  REQUIRE((frame && *frame));
  auto reply = open_frame<StatusReplyMessage>(**frame);
  REQUIRE(reply);
  CHECK(reply->request == 9);
  REQUIRE(reply->status.devices.size() == 1);
  CHECK(reply->status.devices[0].target == some_status().devices[0].target);
  CHECK(reply->status.devices[0].address == Address{"10.0.0.1", 4000});
  CHECK(reply->status.leases.at(0).seconds_left == 12.5);
}

TEST_CASE("what is no frame of this protocol is refused by name") {
  CHECK(refusal(header(0x20544547, 1, 1, 0)) == "the other side does not speak the farm's protocol");
  CHECK(refusal(header(kMagic, 7, 1, 0)) == "protocol version 7 is not spoken here; this is version 2");
  CHECK(refusal(header(kMagic, kProtocolVersion, 999, 0)) == "message 999 is not in protocol version 2");
  CHECK(refusal(header(kMagic, kProtocolVersion, 1, 4096)).empty());
  CHECK(refusal(header(kMagic, kProtocolVersion, 1, 4097)) == "Hello of 4097 bytes; at most 4096 are taken");
  CHECK(refusal(header(kMagic, kProtocolVersion, 33, 1)) == "Heartbeat of 1 bytes; at most 0 are taken");
  for (uint32_t length : {0x7fffffffu, 0x80000000u, 0xffffffffu}) {
    CHECK_FALSE(refusal(header(kMagic, kProtocolVersion, static_cast<uint16_t>(MessageType::PutBlob), length)).empty());
  }
}

TEST_CASE("a promised length is not allocated before its bytes come") {
  FrameReader reader;
  feed(reader, header(kMagic, kProtocolVersion, static_cast<uint16_t>(MessageType::PutBlob), 1 << 30));
  REQUIRE(reader.next());
  CHECK(reader.space().size() < (64 << 10));
  feed(reader, Bytes(100'000));
  REQUIRE(reader.next());
  CHECK(reader.space().size() < (512 << 10));
}

TEST_CASE("before the greeting only small frames are taken") {
  FrameReader reader;
  reader.limit_body(kMaxOpeningBytes);
  feed(reader, header(kMagic, kProtocolVersion, static_cast<uint16_t>(MessageType::PutBlob), 5000));
  CHECK_FALSE(reader.next());
}

TEST_CASE("a truncated or lengthened body is no message") {
  for (const Bytes& bytes : one_of_each()) {
    auto type = static_cast<MessageType>(std::to_integer<int>(bytes[6]) | std::to_integer<int>(bytes[7]) << 8);
    INFO(to_string(type));
    Bytes body(bytes.begin() + kFrameHeaderBytes, bytes.end());
    for (size_t length = 0; length < body.size(); ++length) {
      CHECK_FALSE(decodes({type, Bytes(body.begin(), body.begin() + length)}));
    }
    body.push_back(std::byte{0});
    CHECK_FALSE(decodes({type, body}));
  }
}

TEST_CASE("random and damaged bytes never do more than fail") {
  Rng rng(1);
  auto frames = one_of_each();
  for (int i = 0; i < 20'000; ++i) {
    Bytes bytes = frames[rng.below(frames.size())];
    for (uint64_t change = rng.below(8); change > 0; --change) {
      size_t at = rng.chance(0.3) ? rng.below(kFrameHeaderBytes) : rng.below(bytes.size());
      bytes[at] = rng.chance(0.3) ? std::byte{0xff} : static_cast<std::byte>(rng.next());
    }
    if (rng.chance(0.2)) bytes.resize(rng.below(bytes.size()));
    FrameReader reader;
    feed(reader, bytes);
    for (;;) {
      auto frame = reader.next();
      if (!frame || !*frame) break;
      decodes(**frame);
    }
  }
}

}  // namespace farm
