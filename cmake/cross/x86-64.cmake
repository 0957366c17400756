# Other machines with an x86-64 CPU of any age: kernels are told which instructions theirs has.
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(FARM_CROSS_PREFIX x86_64-linux-gnu)
set(FARM_CROSS_FLAGS -march=x86-64)
include(${CMAKE_CURRENT_LIST_DIR}/board.cmake)
