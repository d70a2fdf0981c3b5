# ambit_add_objects(<name> SOURCES <file>... [OPTIONS <option>...]): a part of libambit with compile
# options of its own.
function(ambit_add_objects name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;OPTIONS")
  add_library(${name} OBJECT ${arg_SOURCES})
  target_include_directories(${name} PRIVATE $<TARGET_PROPERTY:ambit,INCLUDE_DIRECTORIES>)
  target_compile_definitions(${name} PRIVATE AMBIT_BUILDING)
  target_compile_options(${name} PRIVATE $<TARGET_PROPERTY:ambit,COMPILE_OPTIONS> ${arg_OPTIONS})
  target_link_libraries(${name} PRIVATE ambit_private)
  set_target_properties(${name} PROPERTIES
    POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    COMPILE_WARNING_AS_ERROR ${AMBIT_WERROR})
  target_sources(ambit PRIVATE $<TARGET_OBJECTS:${name}>)
endfunction()

# Half of libambit's compile time is spent in the headers of its kernels.
# ambit_precompile_headers(<target> [<header>...])
function(ambit_precompile_headers target)
  target_precompile_headers(${target} PRIVATE
    <ambit/backend/kernels.h> <fmt/format.h> <fmt/ranges.h> <algorithm> ${ARGN})
  # GCC loses the pragmas in a precompiled header.
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-init-list-lifetime>)
endfunction()
