#include "base/result.h"

#include <cstdio>
#include <cstdlib>

namespace farm {

int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::InvalidArgument: return 2;
    case ErrorCode::NoCandidate: return 4;
    case ErrorCode::Interrupted: return 130;
    default: return 3;
  }
}

void assert_failed(const char* file, int line, const char* condition, const std::string& message) {
  std::fprintf(stderr, "%s:%d: internal error: %s (%s)\n", file, line, message.c_str(), condition);
  std::abort();
}

}  // namespace farm
