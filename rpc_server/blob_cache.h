// The blobs of a session by content hash, the longest unused dropped first.
#pragma once
#include <cstddef>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/result.h"

namespace farm {

using Blob = std::shared_ptr<const std::vector<std::byte>>;

class BlobCache {
 public:
  explicit BlobCache(size_t max_bytes) : max_bytes_(max_bytes) {}

  /// InvalidArgument when the blob alone is above the limit.
  Status put(std::vector<std::byte> bytes);
  /// Null when it is not there; a measurement that holds the pointer keeps the bytes. Counts as a use.
  Blob get(const Hash& hash);
  void clear();
  size_t bytes() const { return bytes_; }

 private:
  struct Entry {
    Hash hash;
    Blob blob;
  };
  size_t max_bytes_, bytes_ = 0;
  std::list<Entry> entries_;  ///< last used first
  std::unordered_map<Hash, std::list<Entry>::iterator> index_;
};

}  // namespace farm
