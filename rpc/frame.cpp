#include "rpc/frame.h"

#include <algorithm>

namespace farm {

constexpr size_t kLeastSpace = 16 << 10;

std::span<std::byte> FrameReader::space() {
  if (begin_ == end_) begin_ = end_ = 0;
  if (begin_ > 0 && buffer_.size() - end_ < kLeastSpace) {
    std::copy(buffer_.begin() + begin_, buffer_.begin() + end_, buffer_.begin());
    end_ -= begin_;
    begin_ = 0;
  }
  size_t held = end_ - begin_;
  // Twice what has come, at most what the frame needs: a liar pays for the memory with bytes.
  size_t next = std::min(std::max(wanted_, held), 2 * held) - held;
  buffer_.resize(std::max(buffer_.size(), end_ + std::max(next, kLeastSpace)));
  return std::span(buffer_).subspan(end_);
}

void FrameReader::filled(size_t bytes) { end_ += bytes; }

Result<std::optional<FrameReader::Header>> FrameReader::header() const {
  if (end_ - begin_ < kFrameHeaderBytes) return std::nullopt;
  ByteReader in({buffer_.data() + begin_, kFrameHeaderBytes});
  uint32_t magic = in.u32();
  uint16_t version = in.u16();
  auto type = static_cast<MessageType>(in.u16());
  size_t length = in.u32();
  if (magic != kMagic) return fail(ErrorCode::Corrupt, "the other side does not speak the farm's protocol");
  if (version != kProtocolVersion) {
    return fail(ErrorCode::Corrupt, "protocol version ", version, " is not spoken here; this is version ",
                kProtocolVersion);
  }
  if (!is_known(type))
    return fail(ErrorCode::Corrupt, to_string(type), " is not in protocol version ", kProtocolVersion);
  size_t limit = std::min(max_body_bytes(type), body_limit_);
  if (length > limit) {
    return fail(ErrorCode::Corrupt, to_string(type), " of ", length, " bytes; at most ", limit, " are taken");
  }
  return Header{type, length};
}

Result<std::optional<Frame>> FrameReader::next() {
  FARM_TRY(auto found, header());
  if (!found) return std::nullopt;
  wanted_ = kFrameHeaderBytes + found->length;
  if (end_ - begin_ < wanted_) return std::nullopt;
  auto first = buffer_.begin() + begin_ + kFrameHeaderBytes;
  Frame frame{found->type, {first, first + found->length}};
  begin_ += wanted_;
  wanted_ = 0;
  if (buffer_.size() > (1 << 20) && begin_ == end_) {  // a rare large frame does not stay in memory
    buffer_ = {};
    begin_ = end_ = 0;
  }
  return frame;
}

}  // namespace farm
