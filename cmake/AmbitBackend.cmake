# ambit_add_backend(<name> BUILTIN|PLUGIN|COMMUNICATOR
#   SOURCES <file>...           the backend's sources
#   [LIBRARIES <library>...]    libraries to link; not visible to users of ambit
#   [OPTIONS <option>...])      compile options for these sources only
#
# The target is ambit_backend_<name> or ambit_communicator_<name>; the sources are the same for both
# kinds of backend. BUILTIN makes it a part of libambit (in ambit's own tree only). PLUGIN builds
# libambit_<name>.so, which the loader finds in ambit/backends next to libambit or in a folder of
# $AMBIT_BACKEND_PATH. COMMUNICATOR builds a plugin for process groups, in ambit/communicators.
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
  ambit_add_objects(ambit_backend_${name} SOURCES ${arg_SOURCES} OPTIONS ${arg_OPTIONS})
  target_compile_definitions(ambit_backend_${name} PRIVATE AMBIT_BUILTIN)
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
