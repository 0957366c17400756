# What the toolchains for boards share: Debian's cross compilers, and of the project only what a device runs.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER ${FARM_CROSS_PREFIX}-gcc)
set(CMAKE_CXX_COMPILER ${FARM_CROSS_PREFIX}-g++)
set(FARM_BOARD ON)
