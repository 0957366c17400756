#include "rpc_server/blob_cache.h"

#include "testing.h"

namespace farm {
namespace {

std::vector<std::byte> filled(size_t size, int value) {
  return std::vector<std::byte>(size, static_cast<std::byte>(value));
}
Hash hash_of(size_t size, int value) { return hash_bytes(filled(size, value)); }

}  // namespace

TEST_CASE("the longest unused blob goes first when the cache is full") {
  BlobCache cache(100);
  REQUIRE(cache.put(filled(40, 1)));
  REQUIRE(cache.put(filled(40, 2)));
  CHECK(cache.get(hash_of(40, 1)));
  REQUIRE(cache.put(filled(40, 3)));
  CHECK(cache.get(hash_of(40, 1)));
  CHECK_FALSE(cache.get(hash_of(40, 2)));
  CHECK(cache.bytes() == 80);
}

TEST_CASE("a blob beyond the limit is refused and drops nothing") {
  BlobCache cache(100);
  REQUIRE(cache.put(filled(40, 1)));
  CHECK_FALSE(cache.put(filled(101, 2)));
  CHECK(cache.get(hash_of(40, 1)));
}

TEST_CASE("equal content is kept once, and a holder keeps what is dropped") {
  BlobCache cache(100);
  REQUIRE(cache.put(filled(60, 1)));
  REQUIRE(cache.put(filled(60, 1)));
  CHECK(cache.bytes() == 60);
  Blob held = cache.get(hash_of(60, 1));
  cache.clear();
  CHECK(cache.bytes() == 0);
  CHECK(held->size() == 60);
}

}  // namespace farm
