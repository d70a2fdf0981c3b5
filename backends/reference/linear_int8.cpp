// Products with int8 weights.
#include <ambit/backend/reference.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "runs.h"

namespace ambit::reference {
namespace {

// q [K] = x [K] quantised to int8 as quantize_rows (ops/quantized.h) does; return the scale.
float quantize(int8_t* q, const float* x, int64_t K) {
  float largest = 0;
  bool has_nan = false;
  for (int64_t k = 0; k < K; ++k) {
    largest = std::max(largest, std::abs(x[k]));
    has_nan |= std::isnan(x[k]);
  }
  if (has_nan) largest = std::numeric_limits<float>::quiet_NaN();
  const bool counts = largest >= 1e-36f && largest <= std::numeric_limits<float>::max();
  const float factor = counts ? 127 / largest : 0;
  for (int64_t k = 0; k < K; ++k) {
    q[k] = counts ? static_cast<int8_t>(std::nearbyint(x[k] * factor)) : int8_t{0};
  }
  return largest / 127;
}

}  // namespace

// y [M,N], x [M,K], w [N,K], scale [N], b [N]
void linear_int8(Tensor& y, const Tensor& x, const Tensor& w, const Tensor& scale,
                 const Tensor& b) {
  count_run();
  const int64_t M = x.size(0), K = x.size(1), N = w.size(0);
  std::vector<int8_t> q(static_cast<size_t>(K));
  for (int64_t m = 0; m < M; ++m) {
    const double s = quantize(q.data(), x.data_ptr<float>() + m * K, K);
    for (int64_t n = 0; n < N; ++n) {
      int64_t sum = 0;
      for (int64_t k = 0; k < K; ++k) {
        sum += int64_t{q[static_cast<size_t>(k)]} * w.data_ptr<int8_t>()[n * K + k];
      }
      const double bias = b.defined() ? b.data_ptr<float>()[n] : 0;
      y.data_ptr<float>()[m * N + n] =
          static_cast<float>(static_cast<double>(sum) * (s * scale.data_ptr<float>()[n]) + bias);
    }
  }
}

}  // namespace ambit::reference
