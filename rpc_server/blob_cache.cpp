#include "rpc_server/blob_cache.h"

namespace farm {

Status BlobCache::put(std::vector<std::byte> bytes) {
  if (bytes.size() > max_bytes_) {
    return fail(ErrorCode::InvalidArgument, "blob of ", bytes.size(), " bytes; this device keeps at most ", max_bytes_);
  }
  Hash hash = hash_bytes(bytes);
  if (get(hash)) return {};
  bytes_ += bytes.size();
  entries_.push_front({hash, std::make_shared<const std::vector<std::byte>>(std::move(bytes))});
  index_[hash] = entries_.begin();
  while (bytes_ > max_bytes_) {
    bytes_ -= entries_.back().blob->size();
    index_.erase(entries_.back().hash);
    entries_.pop_back();
  }
  return {};
}

Blob BlobCache::get(const Hash& hash) {
  auto at = index_.find(hash);
  if (at == index_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, at->second);
  return at->second->blob;
}

void BlobCache::clear() {
  entries_.clear();
  index_.clear();
  bytes_ = 0;
}

}  // namespace farm
