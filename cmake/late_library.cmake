# ambit_add_late_library(<name> SOURCES <file>... [LIBRARIES <library>...]): libambit_<name>.so in
# <libdir>/ambit, which libambit opens at the first use (see core/include/ambit/detail/late_library.h).
function(ambit_add_late_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  set(target ambit_${name})
  add_library(${target} MODULE ${arg_SOURCES})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE ambit::ambit ${arg_LIBRARIES})
  set_target_properties(${target} PROPERTIES
    PREFIX lib
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}/ambit
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    INSTALL_RPATH $ORIGIN/..)
  ambit_set_warnings(${target})
  install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/ambit)
endfunction()
