// Which instruction sets Highway compiles a file for that includes this before foreach_target.h: on
// x86 the baseline, AVX2 and AVX-512; on Arm NEON. The sets between and beyond bring little here
// and cost build time; vectors of SVE and RISC-V, of unknown length, cannot be kept in arrays. The
// lowest eight bits are the refinements of AVX-512; their names vary between versions.
#pragma once

#define HWY_DISABLED_TARGETS \
  (0xffLL | HWY_SSE4 | HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
