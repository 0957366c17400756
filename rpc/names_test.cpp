#include "rpc/rpc.h"
#include "testing.h"

namespace farm {

TEST_CASE("a device key is made of letters, digits and a few signs") {
  for (const char* key : {"rk3399", "local", "x86-64-v3/znver3", "Rack_7.b:2@lab+gpu"})
    CHECK(check_device_key("--key", key));
  CHECK(check_device_key("--key", std::string(48, 'x')));
  for (const char* key : {"", " ", "a b", "a\tb", "a\nb", "\x1b[2J", "it's", "\xc3\xa4"}) {
    INFO(key);
    CHECK_FALSE(check_device_key("--key", key));
  }
  CHECK_FALSE(check_device_key("--key", std::string(49, 'x')));
  CHECK(check_device_key("--key", "a\nb").error() ==
        Error{ErrorCode::InvalidArgument,
              "--key is 'a\\x0ab'; letters, digits and ._-+:@/ are allowed, 1 to 48 of them"});
}

TEST_CASE("a device id is any line of text") {
  CHECK(check_device_id("--id", "board 7, Jan's"));
  CHECK(check_device_id("--id", std::string(128, 'x')));
  CHECK_FALSE(check_device_id("--id", ""));
  CHECK_FALSE(check_device_id("--id", std::string(129, 'x')));
  CHECK(check_device_id("--id", "a\x7f").error().message == "--id is 'a\\x7f'; 1 to 128 printable bytes are allowed");
}

}  // namespace farm
