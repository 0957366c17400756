#include "base/text.h"
#include "rpc/client.h"

namespace farm {

Result<Address> parse_address(std::string_view text) {
  size_t colon = text.rfind(':');
  std::string_view host = text.substr(0, colon == std::string_view::npos ? 0 : colon);
  int64_t port = colon == std::string_view::npos ? 0 : parse_int(text.substr(colon + 1)).value_or(0);
  bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  bool good_host = !host.empty() && host.size() <= 255 && (bracketed || host.find(':') == std::string_view::npos) &&
                   host.find_first_of(" \t\r\n/[]") == std::string_view::npos;
  if (!good_host || port < 1 || port > 65535) {
    return fail(ErrorCode::InvalidArgument, "address is '", printable(text), "'; HOST:PORT is wanted, port 1 to 65535");
  }
  return Address{std::string(host), static_cast<uint16_t>(port)};
}

}  // namespace farm
