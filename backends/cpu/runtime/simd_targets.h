// Instruction sets for which Highway compiles a file that includes this before foreach_target.h: on
// x86 the baseline, AVX2 and AVX-512; on Arm NEON. Other sets gain little here and cost build time;
// SVE and RISC-V vectors, of unknown length, cannot be stored in arrays. The lowest eight bits are
// refinements of AVX-512, whose names vary between Highway versions.
#pragma once

#define HWY_DISABLED_TARGETS \
  (0xffLL | HWY_SSE4 | HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
