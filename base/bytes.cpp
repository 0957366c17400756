#include "base/bytes.h"

namespace farm {

void ByteWriter::count(size_t value) {
  FARM_ASSERT(value <= std::numeric_limits<uint32_t>::max(), "a list or text of ", value, " does not fit 32 bits");
  u32(static_cast<uint32_t>(value));
}

void ByteWriter::bytes(std::span<const std::byte> value) {
  count(value.size());
  raw(value);
}

std::span<const std::byte> ByteReader::raw(size_t size) {
  if (!ok_ || size > left()) {
    ok_ = false;
    return {};
  }
  at_ += size;
  return data_.subspan(at_ - size, size);
}

bool ByteReader::boolean() {
  uint8_t value = u8();
  if (value > 1) fail_here();
  return ok_ && value == 1;
}

Hash ByteReader::hash() {
  Hash value;
  auto source = raw(value.bytes.size());
  if (!source.empty()) std::memcpy(value.bytes.data(), source.data(), source.size());
  return value;
}

size_t ByteReader::count(size_t limit, size_t least_bytes) {
  size_t value = u32();
  if (value > limit || (least_bytes > 0 && value > left() / least_bytes)) fail_here();
  return ok_ ? value : 0;
}

std::vector<std::byte> ByteReader::bytes(size_t limit) {
  auto source = raw(count(limit, 1));
  return {source.begin(), source.end()};
}

std::string ByteReader::text(size_t limit) {
  auto source = raw(count(limit, 1));
  return {reinterpret_cast<const char*>(source.data()), source.size()};
}

Status ByteReader::finish(std::string_view what) const {
  if (!ok_)
    return fail(ErrorCode::Corrupt, what, ": cut short or with a value out of range at byte ", at_, " of ",
                data_.size());
  if (left() > 0) return fail(ErrorCode::Corrupt, what, ": ", left(), " bytes too many at its end");
  return {};
}

}  // namespace farm
