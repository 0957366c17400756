// rpc_server --emulate KIND: this machine plays a board, with the board's own server program in an emulator.
#pragma once
#include <string>

#include "base/result.h"

namespace farm {

/// Said to the board's program: it runs in an emulator.
inline constexpr const char* kUnderEmulation = "--under-emulation";

/// Whether there is such a board to play.
bool can_emulate(const std::string& name);

/// Replaces this process by the emulator, with the same arguments and kUnderEmulation; returns only the reason why it
/// cannot. Builds the board's program first where this one lies in a checkout that lacks it.
Error become_emulated_board(const std::string& kind, int argc, char** argv);

}  // namespace farm
