// $AMBIT_CPU_ISA limits the instruction sets that kernels use, so that a newer CPU can run and test
// the code of an older one. On x86 alone; elsewhere the value is checked and has no effect.
#pragma once

namespace ambit::cpu {

/// avx512 is the subsets F, BW, CD, DQ and VL; avx512_bf16 adds VNNI and BF16. Highway compiles no
/// SSE4 code (simd_targets.h): with sse4 it uses the baseline, and oneDNN its SSE4.1.
enum class InstructionSet { sse4, avx2, avx512, avx512_bf16, all };

/// Return the limit; all: $AMBIT_CPU_ISA is unset or empty. It is read once.
/// Errors: Error, for any other value.
InstructionSet instruction_set_limit();
/// Return the value that sets the limit, "none" for all.
const char* name(InstructionSet set);

/// Apply the limit to Highway and to oneDNN, which keep it from their first use on. A user's
/// ONEDNN_MAX_CPU_ISA has priority for oneDNN. Errors: those of instruction_set_limit().
void limit_instruction_sets();

}  // namespace ambit::cpu
