# Boards and phones with a 32-bit Arm CPU that has NEON and fused multiply-add: Armv7-A with VFPv4, hard float.
set(CMAKE_SYSTEM_PROCESSOR arm)
set(FARM_CROSS_PREFIX arm-linux-gnueabihf)
set(FARM_CROSS_FLAGS -march=armv7-a+neon-vfpv4 -mfloat-abi=hard -mthumb)
include(${CMAKE_CURRENT_LIST_DIR}/board.cmake)
