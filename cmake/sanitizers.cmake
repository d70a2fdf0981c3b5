# For all targets, because a sanitizer needs the whole program instrumented.
if(AMBIT_SANITIZE)
  list(JOIN AMBIT_SANITIZE "," sanitizers)
  add_compile_options(-fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${sanitizers})
endif()
if(AMBIT_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)  # coverage counters for the fuzzer
endif()
