// What a program prints for people and scripts, on standard output. A result that did not arrive is a failure: a script
// that reads half a document must not be told 0.
#pragma once
#include <string_view>

#include "base/result.h"

namespace farm {

/// For main, before anything is opened: a pipe whose reader has gone is an error of whoever writes, not the end of the
/// process, and no file or socket takes the place of a standard stream that is closed.
void prepare_standard_streams();

/// Prints, now and whole. Unavailable when that is impossible; with no message when the reader has gone, as in
/// `tune --list | head`: it has what it wanted.
Status print(std::string_view text);

/// The same for what was written to stdout before.
Status flush_output();

}  // namespace farm
