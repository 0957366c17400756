# farm_room(NAME DEPS room... [LINKS target...] [TEST_LINKS target...] [UNITY files])
#
# A room is one static library `farm_NAME` made of NAME/*.cpp and its sub-rooms NAME/*/*.cpp; what ends in _test.cpp
# becomes the program `test_NAME`, one CTest entry a test case ([slow] ones carry the label slow). A DEP that is not
# defined yet is refused, so the order of add_subdirectory in the top-level file is the layering. UNITY compiles that many
# files as one: headers cost most of the time of a small file, so a cold build takes a third (FARM_UNITY=OFF: each alone).
option(FARM_UNITY "Compile several files of a room as one where the room says so" ON)
function(farm_room name)
  cmake_parse_arguments(ROOM "" "" "DEPS;LINKS;TEST_LINKS;UNITY" ${ARGN})
  foreach(dep ${ROOM_DEPS})
    if(NOT TARGET farm_${dep})
      message(FATAL_ERROR "room ${name} names ${dep}, which is not defined before it")
    endif()
  endforeach()

  file(GLOB sources CONFIGURE_DEPENDS *.cpp */*.cpp)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_(test|fuzz|bench|main)\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")

  list(TRANSFORM ROOM_DEPS PREPEND farm_ OUTPUT_VARIABLE dep_targets)
  add_library(farm_${name} STATIC ${sources})
  target_include_directories(farm_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(farm_${name} PUBLIC ${dep_targets} PRIVATE ${ROOM_LINKS})
  if(ROOM_UNITY AND FARM_UNITY)
    set_target_properties(farm_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${ROOM_UNITY})
  endif()

  if(tests)
    farm_test(test_${name} SOURCES ${tests} LINKS farm_${name} ${ROOM_LINKS} ${ROOM_TEST_LINKS})
  endif()
endfunction()

# farm_test(NAME SOURCES file... LINKS target...): a Catch2 program whose cases are CTest entries.
function(farm_test name)
  cmake_parse_arguments(TEST "" "" "SOURCES;LINKS;DEPENDS" ${ARGN})
  add_executable(${name} ${TEST_SOURCES})
  target_link_libraries(${name} PRIVATE farm_test_main ${TEST_LINKS})
  if(TEST_DEPENDS)
    add_dependencies(${name} ${TEST_DEPENDS})
  endif()
  catch_discover_tests(${name} TEST_SPEC "~[slow]" TEST_PREFIX "${name}: " PROPERTIES LABELS fast TIMEOUT 300)
  foreach(source ${TEST_SOURCES})
    # CMake takes a name with a semicolon for two, and each half would match no case and pass.
    file(STRINGS ${source} halved_name REGEX "^TEST_CASE\\(\"[^\"]*;" LIMIT_COUNT 1)
    if(halved_name)
      message(FATAL_ERROR "${source}: a test case's name has a semicolon: ${halved_name}")
    endif()
  endforeach()
  foreach(source ${TEST_SOURCES})
    file(STRINGS ${source} slow_case REGEX "^TEST_CASE.*\\[slow\\]" LIMIT_COUNT 1)
    if(slow_case)
      catch_discover_tests(${name} TEST_SPEC "[slow]" TEST_PREFIX "${name}: " PROPERTIES LABELS slow TIMEOUT 1800)
      break()
    endif()
  endforeach()
endfunction()

# Catch2 2 makes each program compile its main, which costs 15 s: once for all tests. Version 3 brings it built.
include(Catch)
if(TARGET Catch2::Catch2WithMain)
  add_library(farm_test_main INTERFACE)
  target_include_directories(farm_test_main INTERFACE ${PROJECT_SOURCE_DIR}/cmake)
  target_link_libraries(farm_test_main INTERFACE Catch2::Catch2WithMain)
else()
  add_library(farm_test_main STATIC ${PROJECT_SOURCE_DIR}/cmake/test_main.cpp)
  target_include_directories(farm_test_main PUBLIC ${PROJECT_SOURCE_DIR}/cmake)
  target_link_libraries(farm_test_main PUBLIC Catch2::Catch2)
endif()
