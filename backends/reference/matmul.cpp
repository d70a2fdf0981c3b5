// Matrix products.
#include <ambit/backend/reference.h>

#include "accumulator.h"
#include "runs.h"

namespace ambit::reference {
namespace {

// A matrix with arbitrary strides: element (i, j) is data[i * row + j * column].
template <class T>
struct Matrix {
  const T* data;
  int64_t row, column;
};

// y [M,N] = a [M,K] b [K,N] + bias [N]; bias may be null, y is contiguous.
template <class T>
void multiply(T* y, Matrix<T> a, Matrix<T> b, const T* bias, int64_t bias_step, int64_t M,
              int64_t N, int64_t K) {
  using Acc = Accumulator<T>;
  for (int64_t m = 0; m < M; ++m) {
    for (int64_t n = 0; n < N; ++n) {
      Acc total = bias ? static_cast<Acc>(bias[n * bias_step]) : Acc{0};
      for (int64_t k = 0; k < K; ++k) {
        total += static_cast<Acc>(a.data[m * a.row + k * a.column]) *
                 static_cast<Acc>(b.data[k * b.row + n * b.column]);
      }
      y[m * N + n] = static_cast<T>(total);
    }
  }
}

}  // namespace

// y [B,M,N], a [B,M,K], b [B,K,N]
void matmul(Tensor& y, const Tensor& a, const Tensor& b) {
  count_run();
  const int64_t B = a.size(0), M = a.size(1), K = a.size(2), N = b.size(2);
  visit(y.dtype(), [&]<class T>() {
    for (int64_t i = 0; i < B; ++i) {
      multiply<T>(y.data_ptr<T>() + i * M * N,
                  {a.data_ptr<T>() + i * a.stride(0), a.stride(1), a.stride(2)},
                  {b.data_ptr<T>() + i * b.stride(0), b.stride(1), b.stride(2)}, nullptr, 0, M, N,
                  K);
    }
  });
}

// y [M,N], x [M,K], w [N,K], b [N]
void linear(Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b) {
  count_run();
  const int64_t M = x.size(0), K = x.size(1), N = w.size(0);
  visit(y.dtype(), [&]<class T>() {
    multiply<T>(y.data_ptr<T>(), {x.data_ptr<T>(), x.stride(0), x.stride(1)},
                {w.data_ptr<T>(), w.stride(1), w.stride(0)},
                b.defined() ? b.data_ptr<T>() : nullptr, b.defined() ? b.stride(0) : 0, M, N, K);
  });
}

// y [M,N] = map(linear(x, w, b))
void linear_map(Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b,
                const ActivationParams& map) {
  linear(y, x, w, b);
  unary(y, y, map);
}

}  // namespace ambit::reference
