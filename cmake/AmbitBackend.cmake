# ambit_add_backend(<name> BUILTIN|PLUGIN|COMMUNICATOR
#   SOURCES <file>...           the backend's sources
#   [LIBRARIES <library>...]    what they link; never visible to users of ambit
#   [OPTIONS <option>...])      compile options for these sources only
#
# The same sources serve both ways. BUILTIN adds them to libambit (in ambit's own tree only).
# PLUGIN builds libambit_<name>.so, target ambit_backend_<name>, which the loader finds beside
# libambit in ambit/backends or in a folder of $AMBIT_BACKEND_PATH. COMMUNICATOR builds a plugin
# that process groups ask for, in ambit/communicators, target ambit_communicator_<name>.
function(ambit_add_backend name kind)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "SOURCES;LIBRARIES;OPTIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ambit_add_backend(${name}): unknown argument ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(kind STREQUAL "BUILTIN")
    _ambit_add_builtin()
  elseif(kind STREQUAL "PLUGIN")
    _ambit_add_plugin(backend)
  elseif(kind STREQUAL "COMMUNICATOR")
    _ambit_add_plugin(communicator)
  else()
    message(FATAL_ERROR "ambit_add_backend(${name}): expected BUILTIN, PLUGIN or COMMUNICATOR, got ${kind}")
  endif()
endfunction()

macro(_ambit_add_builtin)
  target_sources(ambit PRIVATE ${arg_SOURCES})
  set_source_files_properties(${arg_SOURCES} TARGET_DIRECTORY ambit
    PROPERTIES COMPILE_OPTIONS "${arg_OPTIONS}" COMPILE_DEFINITIONS AMBIT_BUILTIN)
  target_link_libraries(ambit_private INTERFACE ${arg_LIBRARIES})
endmacro()

macro(_ambit_add_plugin what)
  include(GNUInstallDirs)
  set(target ambit_${what}_${name})
  add_library(${target} MODULE ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE ambit::ambit ${arg_LIBRARIES})
  target_compile_options(${target} PRIVATE ${arg_OPTIONS})
  set_target_properties(${target} PROPERTIES
    PREFIX lib
    OUTPUT_NAME ambit_${name}
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}/ambit/${what}s
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    INSTALL_RPATH $ORIGIN/../..)
  install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/ambit/${what}s)
  if(COMMAND ambit_set_warnings)
    ambit_set_warnings(${target})
  endif()
endmacro()
