#include "rpc/rpc.h"
#include "testing.h"

namespace farm {

TEST_CASE("addresses are HOST:PORT, with brackets around an IPv6 host") {
  CHECK(*parse_address("127.0.0.1:9190") == Address{"127.0.0.1", 9190});
  CHECK(*parse_address("board.local:1") == Address{"board.local", 1});
  CHECK(*parse_address("[::1]:65535") == Address{"::1", 65535});
  for (const char* text : {"127.0.0.1:9190", "[::1]:65535"}) CHECK(parse_address(text)->text() == text);
}

TEST_CASE("what is no address is named with what is wanted") {
  for (const char* text :
       {"", "host", "host:", ":9190", "host:0", "host:65536", "host:9x", "::1:9190", "a b:1", "[]:1"}) {
    INFO(text);
    auto address = parse_address(text);
    REQUIRE_FALSE(address);
    CHECK(address.error().code == ErrorCode::InvalidArgument);
  }
  CHECK(parse_address("host").error().message == "address is 'host'; HOST:PORT is wanted, port 1 to 65535");
}

}  // namespace farm
