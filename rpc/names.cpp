#include <algorithm>

#include "base/text.h"
#include "rpc/client.h"
#include "rpc/messages.h"

namespace farm {
namespace {

// "key@host:port" of the longest key and host is still a name.
constexpr size_t kMaxKeyBytes = 48;
constexpr std::string_view kSigns = "._-+:@/";

// Not isalnum, which asks the locale.
bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

std::string quoted(std::string_view name) { return "'" + printable(name.substr(0, kMaxNameBytes)) + "'"; }

}  // namespace

Status check_device_key(std::string_view what, std::string_view key) {
  auto allowed = [](char c) { return is_letter_or_digit(c) || kSigns.find(c) != std::string_view::npos; };
  if (!key.empty() && key.size() <= kMaxKeyBytes && std::ranges::all_of(key, allowed)) return {};
  return fail(ErrorCode::InvalidArgument, what, " is ", quoted(key), "; letters, digits and ", kSigns,
              " are allowed, 1 to ", kMaxKeyBytes, " of them");
}

Status check_device_id(std::string_view what, std::string_view id) {
  auto allowed = [](unsigned char c) { return c >= 0x20 && c != 0x7f; };
  if (!id.empty() && id.size() <= kMaxNameBytes && std::ranges::all_of(id, allowed)) return {};
  return fail(ErrorCode::InvalidArgument, what, " is ", quoted(id), "; 1 to ", kMaxNameBytes,
              " printable bytes are allowed");
}

}  // namespace farm
