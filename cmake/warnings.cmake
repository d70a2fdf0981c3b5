# Warnings for our own targets; headers of other libraries are included as system headers.
function(ambit_set_warnings target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
    # A struct of parameters is filled by designated initializers; the rest are its defaults.
    -Wno-missing-field-initializers)
  if(AMBIT_SANITIZE)
    # The checks that sanitizers insert confuse g++'s flow analysis.
    target_compile_options(${target} PRIVATE
      -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow -Wno-restrict)
  endif()
  set_target_properties(${target} PROPERTIES COMPILE_WARNING_AS_ERROR ${AMBIT_WERROR})
endfunction()
