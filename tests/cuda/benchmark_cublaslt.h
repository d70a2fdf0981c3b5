// What ambit's matmul is measured against.
#pragma once

#include <cstdint>

/// Return the microseconds that the best of cuBLASLt's algorithms takes for y = a b, float32
/// matrices [n,n] on the current GPU, as an average of 20 runs. Errors: BackendError.
double best_cublaslt_us(const void* a, const void* b, void* y, int64_t n, bool tf32);
