# Warnings for our own targets; headers of other libraries are included as system headers.
function(ambit_set_warnings target)
  set(warnings
    -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
    # Designated initializers of parameter structs omit the members that keep their defaults.
    -Wno-missing-field-initializers)
  if(AMBIT_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # The checks that sanitizers insert confuse g++'s flow analysis.
    list(APPEND warnings
      -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow -Wno-restrict)
  endif()
  list(JOIN warnings "," host_warnings)
  target_compile_options(${target} PRIVATE
    # nvcc's output for the host compiler is not pedantic C++.
    $<$<COMPILE_LANGUAGE:CXX>:${warnings};-Wpedantic>
    # `omp simd` permits vectorisation; clang warns where it does not vectorise.
    $<$<COMPILE_LANG_AND_ID:CXX,Clang,AppleClang>:-Wno-pass-failed>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${host_warnings}>)
  set_target_properties(${target} PROPERTIES COMPILE_WARNING_AS_ERROR ${AMBIT_WERROR})
endfunction()
