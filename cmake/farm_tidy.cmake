# `tidy` and `format`: clang-tidy and clang-format over the tree. Developers' tools, which no build needs: targets only
# where clang 19's are installed (older ones cannot read this library's <expected>).
find_program(FARM_CLANG_TIDY clang-tidy-19)
find_program(FARM_CLANG_FORMAT clang-format-19)
set(farm_find "find . -path ./build -prune -o -path ./dist -prune -o -type f")

if(FARM_CLANG_TIDY)
  add_custom_target(tidy
    COMMAND sh -c "${farm_find} -name '*.cpp' -print | xargs -P 2 -n 1 ${FARM_CLANG_TIDY} --quiet -p ${PROJECT_BINARY_DIR}"
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} USES_TERMINAL VERBATIM)
endif()
if(FARM_CLANG_FORMAT)
  add_custom_target(format
    COMMAND sh -c "${farm_find} \\( -name '*.cpp' -o -name '*.h' \\) -print | xargs ${FARM_CLANG_FORMAT} -i"
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM)
endif()
