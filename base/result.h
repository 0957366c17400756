// Errors that the world causes travel as values; our own bugs stop the program where they are found.
#pragma once
#include <expected>
#include <sstream>
#include <string>
#include <utility>

namespace farm {

/// What kind of "no" it was; `exit_code` maps it to what a program returns to the shell.
enum class ErrorCode {
  InvalidArgument,  ///< the caller asked for something that cannot be: exit code 2
  NotFound,         ///< a file, device, record or host that is not there: 3
  Unavailable,      ///< there, but not now: connection lost, lease refused, locked, disk full: 3
  DeadlineExceeded, ///< waited as long as allowed: 3
  Corrupt,          ///< stored or received bytes that make no sense: 3
  NoCandidate,      ///< no schedule worked: 4
  Interrupted,      ///< a person or a signal ended it: 130
};

int exit_code(ErrorCode code);

/// One line for a person: lower case, no full stop, names the value, what is allowed and what to do.
struct Error {
  ErrorCode code;
  std::string message;
  bool operator==(const Error&) const = default;
};

template <class T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

/// `return fail(ErrorCode::NotFound, "no file ", path);`
template <class... Parts>
[[nodiscard]] std::unexpected<Error> fail(ErrorCode code, const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return std::unexpected(Error{code, std::move(out).str()});
}

[[noreturn]] void assert_failed(const char* file, int line, const char* condition, const std::string& message);

namespace detail {
template <class... Parts>
std::string concat(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return std::move(out).str();
}
}  // namespace detail

}  // namespace farm

/// A broken promise of our own code: prints both values and aborts, in every build.
#define FARM_ASSERT(condition, ...)                                                              \
  do {                                                                                           \
    if (!(condition)) [[unlikely]]                                                               \
      ::farm::assert_failed(__FILE__, __LINE__, #condition, ::farm::detail::concat(__VA_ARGS__)); \
  } while (false)

#define FARM_CONCAT_(a, b) a##b
#define FARM_CONCAT(a, b) FARM_CONCAT_(a, b)

// NOLINTBEGIN(bugprone-macro-parentheses): `temporary` and `target` are declared here, where no parentheses may stand.
/// `FARM_TRY(auto lease, client.lease(key));` assigns the value or returns the error to the caller.
#define FARM_TRY(target, expression) FARM_TRY_(FARM_CONCAT(farm_try_, __LINE__), target, expression)
#define FARM_TRY_(temporary, target, expression)                   \
  auto temporary = (expression);                                   \
  if (!temporary) return std::unexpected(std::move(temporary).error()); \
  target = *std::move(temporary)
// NOLINTEND(bugprone-macro-parentheses)

/// The same for a Status.
#define FARM_CHECK(expression)                                                                  \
  do {                                                                                          \
    if (auto farm_check = (expression); !farm_check) return std::unexpected(std::move(farm_check).error()); \
  } while (false)
