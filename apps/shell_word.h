// Commands that are shown to be pasted into a shell.
#pragma once
#include <string>
#include <string_view>

namespace farm {

/// The text as one word of a shell: as it is, or in single quotes where the shell would read more into it.
std::string shell_word(std::string_view text);

}  // namespace farm
