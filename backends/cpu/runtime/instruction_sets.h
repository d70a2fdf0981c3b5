// $AMBIT_CPU_ISA limits the instruction sets that kernels use, to run and test the code for an
// older CPU on a newer one. Effective only on x86; elsewhere the value is only checked.
#pragma once

#include <ambit/api.h>

#include <cstdint>

namespace ambit::cpu {

/// avx512 means the subsets F, BW, CD, DQ and VL; avx512_bf16 adds VNNI and BF16. Highway compiles
/// no SSE4 code here (simd_targets.h): with sse4 it uses its baseline, oneDNN uses SSE4.1.
enum class InstructionSet { sse4, avx2, avx512, avx512_bf16, all };

/// Return the limit; `all` if $AMBIT_CPU_ISA is unset or empty. The variable is read once.
/// Errors: Error for an unknown value.
InstructionSet instruction_set_limit();
/// Return the value of $AMBIT_CPU_ISA for the limit, "none" for `all`.
const char* name(InstructionSet set);

/// Apply the limit to Highway and oneDNN, before their first use. A user's ONEDNN_MAX_CPU_ISA has
/// priority for oneDNN. Errors: those of instruction_set_limit().
void limit_instruction_sets();

/// Return the targets of Highway (bits such as HWY_AVX2) that the CPU has and the limit allows.
AMBIT_API int64_t highway_targets();
/// For tests: use only these targets of Highway; 0: all again.
AMBIT_API void set_highway_targets(int64_t targets);

}  // namespace ambit::cpu
