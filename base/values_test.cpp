#include "base/dtype.h"
#include "base/hash.h"
#include "base/rng.h"
#include "testing.h"

namespace farm {

TEST_CASE("element types round-trip through text, those narrower than a byte included") {
  for (DType dtype : {kFloat32, kFloat16, kInt8, kUInt8, kInt32, kBool, DType{DTypeKind::Int, 4}})
    CHECK(dtype_from_string(to_string(dtype)) == dtype);
  CHECK_FALSE(dtype_from_string("float"));
  CHECK(TensorType{DType{DTypeKind::Int, 4}, {3, 3}}.bytes() == 5);
}

TEST_CASE("a content hash is the same on every host and round-trips through text") {
  Hash hash = hash_text("tunefarm");
  CHECK(hash_from_string(to_string(hash)) == hash);
  CHECK(to_string(hash_text("")) == "99aa06d3014798d86001c324468d497f");  // XXH3's published value
  CHECK_FALSE(hash_from_string("zz"));
}

TEST_CASE("numbers of a seed are the same on every host") {
  Rng rng(7);
  CHECK(rng.next() == 12923355070828475994u);
  CHECK(rng.below(1'000'000'000'007) == 278'751'229'475);
  CHECK(rng.below(13) == 10);
  CHECK(rng.uniform() == Approx(0.981097725));
}

TEST_CASE("equal seeds give equal numbers and a fork is another stream") {
  Rng a(7), b(7);
  for (int i = 0; i < 100; ++i) REQUIRE(a.next() == b.next());
  CHECK(a.fork("x").next() != a.fork("y").next());
  for (int i = 0; i < 1000; ++i) {
    REQUIRE(a.below(13) < 13);
    double u = a.uniform();
    REQUIRE((u >= 0 && u < 1));
  }
}

}  // namespace farm
