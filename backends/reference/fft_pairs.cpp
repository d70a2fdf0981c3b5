// The discrete Fourier transform as a plain sum in float64: x [B,N,C,2], y [B,N,C,2].
#include <ambit/backend/reference.h>

#include "fft_line.h"
#include "runs.h"

namespace ambit::reference {

void fft_pairs(Tensor& y, const Tensor& x, bool inverse, double scale) {
  count_run();
  const int64_t B = x.size(0), N = x.size(1), C = x.size(2);
  const LineTransform transform(N, inverse);
  std::vector<std::complex<double>> line(static_cast<size_t>(N));
  visit<dtypes::kFloating>(x.dtype(), [&]<class T>() {
    for (int64_t b = 0; b < B; ++b) {
      for (int64_t c = 0; c < C; ++c) {
        const int64_t start = 2 * (b * N * C + c), step = 2 * C;
        const T* from = x.data_ptr<T>() + start;
        T* to = y.data_ptr<T>() + start;
        for (int64_t j = 0; j < N; ++j) {
          line[static_cast<size_t>(j)] = {static_cast<double>(from[j * step]),
                                          static_cast<double>(from[j * step + 1])};
        }
        for (int64_t k = 0; k < N; ++k) {
          const std::complex<double> sum = transform.element(line, k);
          to[k * step] = static_cast<T>(sum.real() * scale);
          to[k * step + 1] = static_cast<T>(sum.imag() * scale);
        }
      }
    }
  });
}

}  // namespace ambit::reference
