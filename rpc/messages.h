// The wire: one binary protocol between clients, tracker and devices. This header is its only documentation.
//
// FRAME     offset bytes
//           0      4     magic, the letters "FARM"
//           4      2     protocol version, kProtocolVersion
//           6      2     message type
//           8      4     length of the body; above the type's limit the connection ends before anything is allocated
//           12           body: the message's fields in the order of its struct
// Integers are little-endian; a text or a list is a 32-bit length and its items; an absent value is a zero. A frame is
// one write. Either side ends the connection at the first frame that it does not understand.
//
// OPENING   Whoever connects sends Hello within 5 s and gets Welcome, or Refused with the reason (another protocol
//           version, too many connections). Until then no frame above kMaxOpeningBytes is accepted.
//
// CLIENT to tracker                         tracker to CLIENT
//   LeaseRequest  request                     LeaseWaiting  request   (at once, then about once a second)
//                                             LeaseGranted  request   or Answer with the error
//   LeaseCancel   request                     Answer        request   (a grant may have come just before)
//   LeaseRenew, LeaseRelease, LeaseBad        Answer        request
//   StatusRequest request                     StatusReply   request
//   A client that disconnects loses its leases and its places in the queues.
//
// DEVICE to tracker                         tracker to DEVICE
//   Register  with the lease that it holds    Answer (request 0)
//   Heartbeat every 5 s                       Heartbeat
//   CheckIn   in order again                  DeviceGrant   obey this epoch from now on; end any lower one
//   Unregister going away on purpose          DeviceExtend  the same lease, from now for ttl
//                                             DeviceRevoke  the lease is over; with check_in: say when in order
//   A device that is silent for 15 s is lost. It ends a lease by its own steady clock and needs no tracker for that.
//
// CLIENT to device                          device to CLIENT
//   OpenSession with the lease's token        SessionOpened or Answer "stale epoch ..."
//   HaveBlob  request, hash                   Answer: Ok or NotFound
//   PutBlob   request, bytes                  Answer
//   Measure   request                         MeasureDone   request   or Answer with the error
//   CancelMeasure request                     (the answer to Measure, with Unavailable)
//   One session at a time; it ends with the lease. Blobs are the session's own: none is left for the next one.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "rpc/client.h"
#include "runtime/runtime.h"
#include "target/target.h"

namespace farm {

inline constexpr uint32_t kMagic = 0x4d524146;  // "FARM" read as little-endian
inline constexpr uint16_t kProtocolVersion = 2;
inline constexpr size_t kFrameHeaderBytes = 12;
inline constexpr size_t kMaxNameBytes = 128;        ///< keys, device ids, holders, host names
inline constexpr size_t kMaxOpeningBytes = 4096;    ///< body of a first frame
inline constexpr size_t kMaxMessageText = 4096;     ///< an error's text
inline constexpr size_t kMaxSmallBytes = 16 << 10;  ///< body of the small messages
inline constexpr size_t kMaxStatusBytes = 128 << 20;
inline constexpr size_t kMaxMeasureBytes = 512 << 20;
inline constexpr size_t kMaxWireBlobBytes = 1 << 30;  ///< one blob: a layer's whole output fits

enum class MessageType : uint16_t {
  Hello = 1,
  Welcome,
  Refused,
  Answer,
  LeaseRequest = 16,
  LeaseCancel,
  LeaseRenew,
  LeaseRelease,
  LeaseBad,
  LeaseWaiting,
  LeaseGranted,
  StatusRequest,
  StatusReply,
  Register = 32,
  Heartbeat,
  CheckIn,
  Unregister,
  DeviceGrant,
  DeviceExtend,
  DeviceRevoke,
  OpenSession = 48,
  SessionOpened,
  HaveBlob,
  PutBlob,
  Measure,
  MeasureDone,
  CancelMeasure,
};
/// "LeaseRequest"; "message 77" for what is none.
std::string to_string(MessageType type);
/// Largest body of a type; 0 for a type without a body and for unknown ones (see is_known).
size_t max_body_bytes(MessageType type);
bool is_known(MessageType type);

enum class Role : uint8_t { Client, Device };

// --- opening ---------------------------------------------------------------------------------------------------------

struct HelloMessage {
  static constexpr MessageType kType = MessageType::Hello;
  Role role = Role::Client;
  std::string name;  ///< who it is, for people: "user@host:pid", a device's id
};
struct WelcomeMessage {
  static constexpr MessageType kType = MessageType::Welcome;
  std::string name;  ///< what answers: "tracker", a device's id
};
struct RefusedMessage {
  static constexpr MessageType kType = MessageType::Refused;
  std::string reason;
};
/// Ok (the message is empty) or an error.
struct AnswerMessage {
  static constexpr MessageType kType = MessageType::Answer;
  uint32_t request = 0;
  bool ok = true;
  Error error{};
};

// --- leases ----------------------------------------------------------------------------------------------------------

struct LeaseRequestMessage {
  static constexpr MessageType kType = MessageType::LeaseRequest;
  uint32_t request = 0;
  std::string key;
  int32_t priority = 0;              ///< higher first
  uint32_t unknown_key_wait_ms = 0;  ///< how long to wait for a first device of the key
};
struct LeaseCancelMessage {
  static constexpr MessageType kType = MessageType::LeaseCancel;
  uint32_t request = 0;
};
struct LeaseRenewMessage {
  static constexpr MessageType kType = MessageType::LeaseRenew;
  uint32_t request = 0;
  LeaseToken token;
};
struct LeaseReleaseMessage {
  static constexpr MessageType kType = MessageType::LeaseRelease;
  uint32_t request = 0;
  LeaseToken token;
};
struct LeaseBadMessage {
  static constexpr MessageType kType = MessageType::LeaseBad;
  uint32_t request = 0;
  LeaseToken token;
  std::string why;
};
struct LeaseWaitingMessage {
  static constexpr MessageType kType = MessageType::LeaseWaiting;
  uint32_t request = 0;
  int32_t position = 0;
  int32_t devices = 0;
};
struct LeaseGrantedMessage {
  static constexpr MessageType kType = MessageType::LeaseGranted;
  uint32_t request = 0;
  LeaseGrant grant;
};
struct StatusRequestMessage {
  static constexpr MessageType kType = MessageType::StatusRequest;
  uint32_t request = 0;
};
struct StatusReplyMessage {
  static constexpr MessageType kType = MessageType::StatusReply;
  uint32_t request = 0;
  TrackerStatus status;
};

// --- devices at the tracker ------------------------------------------------------------------------------------------

/// What a device says of itself, and the truth about its lease.
struct DeviceReport {
  std::string id;         ///< unique in the farm, the same after a reconnect
  uint64_t instance = 0;  ///< random, one a process: tells a reconnect from a second server with the same id
  std::string key;
  Target target;
  Address address;      ///< where clients connect; without a host: where the registration came from
  uint64_t epoch = 0;   ///< highest that it was ever told
  uint64_t secret = 0;  ///< of the running lease
  std::string holder;
  std::chrono::milliseconds left{0};  ///< of the running lease; 0: none
};
struct RegisterMessage {
  static constexpr MessageType kType = MessageType::Register;
  DeviceReport report;
};
struct HeartbeatMessage {
  static constexpr MessageType kType = MessageType::Heartbeat;
};
struct CheckInMessage {
  static constexpr MessageType kType = MessageType::CheckIn;
};
struct UnregisterMessage {
  static constexpr MessageType kType = MessageType::Unregister;
};
struct DeviceGrantMessage {
  static constexpr MessageType kType = MessageType::DeviceGrant;
  LeaseToken token;
  uint32_t ttl_ms = 0;
  std::string holder;
};
struct DeviceExtendMessage {
  static constexpr MessageType kType = MessageType::DeviceExtend;
  uint64_t epoch = 0;
  uint32_t ttl_ms = 0;
};
struct DeviceRevokeMessage {
  static constexpr MessageType kType = MessageType::DeviceRevoke;
  uint64_t epoch = 0;
  bool check_in = false;
};

// --- a session at a device -------------------------------------------------------------------------------------------

struct OpenSessionMessage {
  static constexpr MessageType kType = MessageType::OpenSession;
  LeaseToken token;
};
struct SessionOpenedMessage {
  static constexpr MessageType kType = MessageType::SessionOpened;
  std::string device_id;
  Target target;
};
struct HaveBlobMessage {
  static constexpr MessageType kType = MessageType::HaveBlob;
  uint32_t request = 0;
  Hash hash;
};
struct PutBlobMessage {
  static constexpr MessageType kType = MessageType::PutBlob;
  uint32_t request = 0;
  std::vector<std::byte> bytes;
};
struct MeasureMessage {
  static constexpr MessageType kType = MessageType::Measure;
  uint32_t request = 0;
  MeasureRequest measure;
};
struct MeasureDoneMessage {
  static constexpr MessageType kType = MessageType::MeasureDone;
  uint32_t request = 0;
  MeasureReply reply;
};
struct CancelMeasureMessage {
  static constexpr MessageType kType = MessageType::CancelMeasure;
  uint32_t request = 0;
};

// --- coding ----------------------------------------------------------------------------------------------------------

/// A whole frame, ready to be written.
template <class Message>
std::vector<std::byte> to_frame(const Message& message);
/// Corrupt, naming the message, unless the body is exactly one.
template <class Message>
Result<Message> from_body(std::span<const std::byte> body);

}  // namespace farm
