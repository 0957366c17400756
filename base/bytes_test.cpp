#include "base/bytes.h"

#include "testing.h"

using namespace farm;

TEST_CASE("what was written is read back, little-endian") {
  ByteWriter writer;
  writer.u16(0x0102);
  writer.i64(-5);
  writer.f32(1.5f);
  writer.boolean(true);
  writer.text("hello");
  CHECK(writer.view()[0] == std::byte{2});
  ByteReader reader(writer.view());
  CHECK(reader.u16() == 0x0102);
  CHECK(reader.i64() == -5);
  CHECK(reader.f32() == 1.5f);
  CHECK(reader.boolean());
  CHECK(reader.text(10) == "hello");
  CHECK(reader.finish("test"));
}

TEST_CASE("a length beyond the bytes that are left is refused before it is allocated") {
  ByteWriter writer;
  writer.u32(0xffffffff);
  ByteReader reader(writer.view());
  CHECK(reader.bytes(SIZE_MAX).empty());
  CHECK_FALSE(reader.finish("test"));
  CHECK(reader.u64() == 0);
}

TEST_CASE("a length beyond the limit is refused") {
  ByteWriter writer;
  writer.text("hello");
  ByteReader reader(writer.view());
  CHECK(reader.text(4).empty());
  CHECK_FALSE(reader.ok());
}

TEST_CASE("left-over bytes and values out of range are errors") {
  ByteWriter writer;
  writer.u8(2);
  ByteReader left_over(writer.view());
  CHECK(left_over.finish("message").error().message == "message: 1 bytes too many at its end");
  ByteReader reader(writer.view());
  reader.boolean();
  CHECK_FALSE(reader.ok());
}
