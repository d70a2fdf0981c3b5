#pragma once

#include <cstdint>

namespace bench::floor {

/// Return the mean over n of -log_softmax(logits)[n, targets[n]], and write its gradient to `grad`.
/// logits, grad: [N,K].
double cross_entropy(float* grad, const float* logits, const int64_t* targets, int64_t N,
                     int64_t K);

}  // namespace bench::floor
