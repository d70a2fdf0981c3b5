// The discrete Fourier transform as a plain sum in float64: x [B,N,C,2], y [B,N,C,2].
#include <ambit/backend/reference.h>
#include <ambit/backend/unit_root.h>

#include <algorithm>
#include <complex>
#include <vector>

#include "runs.h"

namespace ambit::reference {

void fft_pairs(Tensor& y, const Tensor& x, bool inverse, double scale) {
  count_run();
  using Complex = std::complex<double>;
  constexpr int64_t kBlock = 64;  // terms of a partial sum: fewer roundings of large sums
  const int64_t B = x.size(0), N = x.size(1), C = x.size(2);
  std::vector<Complex> roots, line(static_cast<size_t>(N));
  for (int64_t m = 0; m < N; ++m) {
    const Complex root = unit_root(m, N);
    roots.push_back(inverse ? root : std::conj(root));
  }
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
          double re = 0, im = 0;
          for (int64_t first = 0, turn = 0; first < N; first += kBlock) {
            double block_re = 0, block_im = 0;
            for (int64_t j = first; j < std::min(first + kBlock, N); ++j) {
              const Complex v = line[static_cast<size_t>(j)], w = roots[static_cast<size_t>(turn)];
              block_re += v.real() * w.real() - v.imag() * w.imag();
              block_im += v.real() * w.imag() + v.imag() * w.real();
              turn = turn + k < N ? turn + k : turn + k - N;  // j k modulo N
            }
            re += block_re, im += block_im;
          }
          to[k * step] = static_cast<T>(re * scale);
          to[k * step + 1] = static_cast<T>(im * scale);
        }
      }
    }
  });
}

}  // namespace ambit::reference
