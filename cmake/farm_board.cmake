# The build of a device's side alone: one static program that runs from one copied file, on any Linux of its ISA.
#
# Third-party headers are all that it takes from this machine. They lie in /usr/include, beside the C library's of the
# wrong ISA, so the compiler gets a folder of links to each instead.
set(headers ${PROJECT_BINARY_DIR}/third_party)
foreach(header boost catch2 CLI fmt xxhash.h xxh3.h)
  unset(found CACHE)
  find_path(found ${header} PATHS /usr/include /usr/local/include NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
  if(found)
    file(MAKE_DIRECTORY ${headers})
    file(CREATE_LINK ${found}/${header} ${headers}/${header} SYMBOLIC)
  endif()
endforeach()
unset(found CACHE)
include_directories(SYSTEM ${headers})

# Smaller rather than faster: what is timed is the kernels, which come from elsewhere.
set(CMAKE_CXX_FLAGS_RELEASE "-Os")
set(CMAKE_C_FLAGS_RELEASE "-Os")
set(CMAKE_POSITION_INDEPENDENT_CODE OFF)
add_compile_options(${FARM_CROSS_FLAGS} -ffunction-sections -fdata-sections)
add_link_options(-static -s -Wl,--gc-sections)
if(FARM_LLD)
  add_link_options(-Wl,--icf=all)  # equal functions once: a fortieth of the program
endif()

find_package(Threads REQUIRED)
add_library(Boost::headers INTERFACE IMPORTED)
add_library(fmt::fmt INTERFACE IMPORTED)
target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)
add_library(Catch2::Catch2 INTERFACE IMPORTED)

include(farm_room)
foreach(room base target runtime rpc tracker rpc_server apps)
  add_subdirectory(${room})
endforeach()
