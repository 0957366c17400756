# farm_app(NAME SOURCES file... LINKS target... [NO_INSTALL]): a program in build/<preset>/bin, installed unless told not
# to. It gets the shared command line (apps/cli.h) and the project's version.
function(farm_app name)
  cmake_parse_arguments(APP "NO_INSTALL" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${APP_SOURCES})
  target_link_libraries(${name} PRIVATE farm_cli ${APP_LINKS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  if(NOT APP_NO_INSTALL)
    install(TARGETS ${name} RUNTIME DESTINATION bin)
  endif()
endfunction()
