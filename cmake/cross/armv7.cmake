# Boards and phones with a 32-bit Arm CPU: Armv7-A with NEON, hard float. Fused multiply-add is the kernels' business:
# a Cortex-A9 has none.
set(CMAKE_SYSTEM_PROCESSOR arm)
set(FARM_CROSS_PREFIX arm-linux-gnueabihf)
set(FARM_CROSS_FLAGS -march=armv7-a+neon -mfloat-abi=hard -mthumb)
include(${CMAKE_CURRENT_LIST_DIR}/board.cmake)
