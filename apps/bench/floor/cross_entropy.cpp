#include "cross_entropy.h"

#include <algorithm>
#include <cmath>

namespace bench::floor {

double cross_entropy(float* grad, const float* logits, const int64_t* targets, int64_t N,
                     int64_t K) {
  constexpr int64_t kWorthThreads = 128;  // rows; for fewer, starting threads costs more
  const float scale = 1.0f / static_cast<float>(N);
  double loss = 0;
#pragma omp parallel for reduction(+ : loss) if (N >= kWorthThreads)
  for (int64_t n = 0; n < N; ++n) {
    const float* x = logits + n * K;
    float* dx = grad + n * K;
    const float top = *std::max_element(x, x + K);
    float sum = 0;
    for (int64_t k = 0; k < K; ++k) sum += dx[k] = std::exp(x[k] - top);
    loss += std::log(sum) - (x[targets[n]] - top);
    const float share = scale / sum;
    for (int64_t k = 0; k < K; ++k) dx[k] *= share;
    dx[targets[n]] -= scale;
  }
  return loss / static_cast<double>(N);
}

}  // namespace bench::floor
