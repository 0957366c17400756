// runtime/cpu/pool.c as the build compiled it.
#pragma once
#include <cstddef>
#include <span>

namespace farm::codegen {

/// A relocatable object for this host's architecture; its one entry for us is farm_pool_shared. Made by the build.
std::span<const std::byte> embedded_pool();

}  // namespace farm::codegen
