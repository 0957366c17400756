# Third-party packages, each found once. A room names the targets that it links.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(Boost 1.74 REQUIRED)
find_package(Catch2 REQUIRED)
find_package(LLVM 19.1 REQUIRED CONFIG)
find_package(LLD REQUIRED CONFIG HINTS "${LLVM_LIBRARY_DIR}/cmake/lld")
pkg_check_modules(XGBOOST REQUIRED IMPORTED_TARGET xgboost)

# LLVM's and LLD's libraries with their include paths as one target; their headers warn, hence SYSTEM.
add_library(farm_llvm INTERFACE)
target_include_directories(farm_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_link_libraries(farm_llvm INTERFACE lldELF lldCommon LLVM)
