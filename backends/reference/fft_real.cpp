// The discrete Fourier transform of real lines as a plain sum in float64: x [B,N,C], y
// [B,N/2+1,C,2]; inverse: x [B,N/2+1,C,2], y [B,N,C].
#include <ambit/backend/reference.h>

#include "fft_line.h"
#include "runs.h"

namespace ambit::reference {

void fft_real(Tensor& y, const Tensor& x, bool inverse, double scale) {
  count_run();
  const Tensor& real = inverse ? y : x;
  const int64_t B = real.size(0), N = real.size(1), C = real.size(2), M = N / 2 + 1;
  const LineTransform transform(N, inverse);
  std::vector<std::complex<double>> line(static_cast<size_t>(N));
  visit<dtypes::kFloating>(x.dtype(), [&]<class T>() {
    for (int64_t b = 0; b < B; ++b) {
      for (int64_t c = 0; c < C; ++c) {
        const int64_t real_start = b * N * C + c, pairs_start = 2 * (b * M * C + c);
        const T* from = x.data_ptr<T>() + (inverse ? pairs_start : real_start);
        T* to = y.data_ptr<T>() + (inverse ? real_start : pairs_start);
        for (int64_t j = 0; j < N; ++j) {
          std::complex<double>& v = line[static_cast<size_t>(j)];
          if (!inverse) {
            v = static_cast<double>(from[j * C]);
            continue;
          }
          const T* pair = from + 2 * C * std::min(j, N - j);
          // The imaginary parts of elements 0 and N / 2 do not count.
          const double im = j % N == 0 || 2 * j == N ? 0 : static_cast<double>(pair[1]);
          v = {static_cast<double>(pair[0]), 2 * j > N ? -im : im};
        }
        for (int64_t k = 0; k < (inverse ? N : M); ++k) {
          const std::complex<double> sum = transform.element(line, k);
          if (inverse) {
            to[k * C] = static_cast<T>(sum.real() * scale);
          } else {
            to[k * 2 * C] = static_cast<T>(sum.real() * scale);
            to[k * 2 * C + 1] = static_cast<T>(sum.imag() * scale);
          }
        }
      }
    }
  });
}

}  // namespace ambit::reference
