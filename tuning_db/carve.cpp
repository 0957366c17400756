#include "tuning_db/carve.h"

#include <algorithm>
#include <cstring>

#include "tuning_db/rows.h"

namespace farm {
namespace {

using Bytes = std::span<const std::byte>;

constexpr size_t kHeaderBytes = 100;  // in front of the first page
constexpr size_t kLeafHeaderBytes = 8;
constexpr std::byte kTableLeaf{0x0d};

// Columns by their place in the table (schema.sql). `id` is the row's number and takes no bytes.
constexpr size_t kHash = 1, kBody = 15, kSamples = 16, kColumns = 17;

uint64_t big_endian(Bytes bytes, size_t at, size_t size) {
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) value = value << 8 | static_cast<uint64_t>(bytes[at + i]);
  return value;
}

/// Seven bits a byte, the eighth says that more follow; a ninth byte counts whole. Nothing behind the end.
std::optional<uint64_t> take_varint(Bytes& bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < std::min<size_t>(9, bytes.size()); ++i) {
    auto byte = static_cast<uint64_t>(bytes[i]);
    value = i == 8 ? value << 8 | byte : value << 7 | (byte & 0x7f);
    if (i < 8 && byte & 0x80) continue;
    bytes = bytes.subspan(i + 1);
    return value;
  }
  return std::nullopt;
}

/// What a column of this serial type takes.
uint64_t bytes_of_type(uint64_t type) {
  constexpr uint64_t kNumbers[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
  return type < 12 ? kNumbers[type] : (type - 12) / 2;
}

std::optional<std::vector<Bytes>> columns_of(Bytes payload) {
  Bytes rest = payload;
  auto header_bytes = take_varint(rest);
  if (!header_bytes || *header_bytes > payload.size() || *header_bytes < payload.size() - rest.size()) return {};
  Bytes types = payload.first(*header_bytes).subspan(payload.size() - rest.size());
  Bytes content = payload.subspan(*header_bytes);
  std::vector<Bytes> columns;
  while (!types.empty()) {
    auto type = take_varint(types);
    if (!type || bytes_of_type(*type) > content.size()) return {};
    columns.push_back(content.first(bytes_of_type(*type)));
    content = content.subspan(columns.back().size());
  }
  return columns;
}

class Carver {
 public:
  using Each = std::function<void(int64_t, Record)>;
  Carver(const Connection& connection, const Each& each) : connection_(connection), each_(each) {
    // A header that is damaged says nothing; then it is a page as our writer makes it.
    auto header = read(0, kHeaderBytes);
    if (header.size() < kHeaderBytes || std::memcmp(header.data(), "SQLite format 3", 16) != 0) return;
    size_t size = big_endian(header, 16, 2), reserved = big_endian(header, 20, 1);
    page_bytes_ = size == 1 ? 65536 : std::max<size_t>(size, 512);
    usable_bytes_ = page_bytes_ - std::min(reserved, page_bytes_ - 480);  // the format's own least
  }

  void run() {
    auto bytes = static_cast<uint64_t>(connection_.file_bytes());
    for (uint64_t number = 1; (number - 1) * page_bytes_ < bytes; ++number) {
      auto page = read_page(number);
      if (!page.empty()) read_leaf(page, number == 1 ? kHeaderBytes : 0);
    }
  }

 private:
  std::vector<std::byte> read(uint64_t offset, size_t size) const {
    std::vector<std::byte> bytes(size);
    bytes.resize(connection_.read_file(offset, bytes));
    return bytes;
  }
  /// Whole, filled up with zeros when the file ends in it; empty behind the end and where the disk cannot read.
  std::vector<std::byte> read_page(uint64_t number) const {
    auto page = read((number - 1) * page_bytes_, page_bytes_);
    if (!page.empty()) page.resize(page_bytes_);
    return page;
  }

  void read_leaf(Bytes page, size_t header) {
    if (page[header] != kTableLeaf) return;
    size_t cells = big_endian(page, header + 3, 2), first = header + kLeafHeaderBytes;
    for (size_t i = 0; i < cells && first + 2 * i + 2 <= page.size(); ++i) {
      size_t at = big_endian(page, first + 2 * i, 2);
      if (at < usable_bytes_) read_cell(page.first(usable_bytes_).subspan(at));
    }
  }

  void read_cell(Bytes cell) {
    auto bytes = take_varint(cell), id = bytes ? take_varint(cell) : std::nullopt;
    if (!id || *bytes > static_cast<uint64_t>(connection_.file_bytes())) return;
    auto payload = payload_of(cell, *bytes);
    auto columns = columns_of(payload);
    if (!columns || columns->size() != kColumns) return;
    Bytes body = (*columns)[kBody];
    auto record = record_from_content({reinterpret_cast<const char*>(body.data()), body.size()}, (*columns)[kSamples],
                                      (*columns)[kHash]);
    if (record) each_(static_cast<int64_t>(*id), *std::move(record));
  }

  /// What is in the cell, then page after page; shorter than it should be when a page is not there.
  std::vector<std::byte> payload_of(Bytes cell, size_t bytes) const {
    size_t local = std::min(local_bytes(bytes), cell.size());
    std::vector<std::byte> payload(cell.begin(), cell.begin() + static_cast<ptrdiff_t>(local));
    uint64_t next = local < bytes && cell.size() >= local + 4 ? big_endian(cell, local, 4) : 0;
    while (payload.size() < bytes && next != 0) {
      auto page = read_page(next);
      if (page.empty()) break;
      Bytes part = Bytes(page).subspan(4, std::min(bytes - payload.size(), usable_bytes_ - 4));
      payload.insert(payload.end(), part.begin(), part.end());
      next = big_endian(page, 0, 4);
    }
    return payload;
  }

  /// How much of a payload lies in its leaf: the format's own formula.
  size_t local_bytes(size_t bytes) const {
    size_t most = usable_bytes_ - 35, least = (usable_bytes_ - 12) * 32 / 255 - 23;
    if (bytes <= most) return bytes;
    size_t filling = least + (bytes - least) % (usable_bytes_ - 4);
    return filling <= most ? filling : least;
  }

  const Connection& connection_;
  const Each& each_;
  size_t page_bytes_ = 4096, usable_bytes_ = 4096;
};

}  // namespace

void carve_records(const Connection& connection, const std::function<void(int64_t id, Record record)>& each) {
  Carver(connection, each).run();
}

}  // namespace farm
