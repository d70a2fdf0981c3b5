# One result on every architecture. AArch64 has a fused multiply-add in its baseline, which g++ and
# clang form from x * y + z and round once; x86-64's baseline rounds twice. Kernels that want it say so.
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
endif()
