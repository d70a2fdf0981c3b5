// Functions that the CPU computes by the loops of others, one after the other on elements that stay
// in the first-level cache: some bytes for each, where loops of its own would be kilobytes.
#pragma once

#include <ambit/dtype.h>
#include <ambit/function_table.h>

#include <cstdint>
#include <span>

namespace ambit::cpu {

struct Step;

/// The steps of a row of AMBIT_TERNARY_CHAINS; none of the others.
std::span<const Step> chain_of(TernaryOp op);
/// Run them on n elements of float32 or float64, as a TernaryLoop does.
void run_chain(std::span<const Step> chain, DType dtype, int64_t n, void* y, const void* a,
               const void* b, const void* c, bool one_for_all);

}  // namespace ambit::cpu
