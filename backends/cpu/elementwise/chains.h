// Functions computed by running other loops in sequence on elements that stay in the L1 cache. Each
// needs some bytes of code; a dedicated loop would need kilobytes.
#pragma once

#include <ambit/dtype.h>
#include <ambit/function_table.h>

#include <cstdint>
#include <span>

namespace ambit::cpu {

struct Step;

/// Return the steps of an op of AMBIT_TERNARY_CHAINS; empty for ops that have a loop.
std::span<const Step> chain_of(TernaryOp op);
/// Run the steps on n elements of float32 or float64, with the arguments of a TernaryLoop.
void run_chain(std::span<const Step> chain, DType dtype, int64_t n, void* y, const void* a,
               const void* b, const void* c, bool one_for_all);

}  // namespace ambit::cpu
