# Boards and phones with a 64-bit Arm CPU: Armv8-A, which has NEON.
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(FARM_CROSS_PREFIX aarch64-linux-gnu)
set(FARM_CROSS_FLAGS -march=armv8-a)
include(${CMAKE_CURRENT_LIST_DIR}/board.cmake)
