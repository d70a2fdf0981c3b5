// The baseline for ambit's matmul.
#pragma once

#include <cstdint>

/// Return the time in microseconds of the fastest cuBLASLt algorithm for y = a b, float32 matrices
/// [n,n] on the current GPU, averaged over 20 runs. Errors: BackendError.
double best_cublaslt_us(const void* a, const void* b, void* y, int64_t n, bool tf32);
