// Cuts a stream of bytes into frames (rpc/messages.h) without trusting any of them.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "rpc/messages.h"

namespace farm {

struct Frame {
  MessageType type{};
  std::vector<std::byte> body;
};

/// Read into `space()`, say how much with `filled()`, then take frames until there is none.
class FrameReader {
 public:
  /// Where the next bytes go; never empty. Grows with what has arrived, not with what a header promises.
  std::span<std::byte> space();
  void filled(size_t bytes);
  /// The next whole frame, nothing while it is incomplete, Corrupt for what is no frame of this protocol: from then on
  /// the stream is of no use.
  Result<std::optional<Frame>> next();
  /// Bytes of an incomplete frame are there.
  bool in_frame() const { return end_ > begin_; }
  /// Size of that frame with its header; 0 until the header is there.
  size_t wanted_bytes() const { return wanted_; }
  /// Bodies above this are refused, whatever their type allows.
  void limit_body(size_t bytes) { body_limit_ = bytes; }

 private:
  struct Header {
    MessageType type;
    size_t length;
  };
  Result<std::optional<Header>> header() const;

  std::vector<std::byte> buffer_;
  size_t begin_ = 0, end_ = 0;
  size_t wanted_ = 0;  ///< bytes of the incomplete frame, once its header is there
  size_t body_limit_ = SIZE_MAX;
};

/// The message in a frame of its type; Corrupt for another type.
template <class Message>
Result<Message> open_frame(const Frame& frame) {
  if (frame.type != Message::kType) {
    return fail(ErrorCode::Corrupt, "got ", to_string(frame.type), " where ", to_string(Message::kType), " was due");
  }
  return from_body<Message>(frame.body);
}

}  // namespace farm
