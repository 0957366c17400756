# Boards with a 64-bit RISC-V CPU: rv64gc. Vectors are the kernels' business; this program runs without.
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(FARM_CROSS_PREFIX riscv64-linux-gnu)
set(FARM_CROSS_FLAGS -march=rv64gc -mabi=lp64d)
include(${CMAKE_CURRENT_LIST_DIR}/board.cmake)
