// The discrete Fourier transform of a line as a plain sum in float64.
#pragma once

#include <ambit/backend/unit_root.h>

#include <algorithm>
#include <complex>
#include <vector>

namespace ambit::reference {

/// The transform of lines of n complex numbers.
class LineTransform {
 public:
  LineTransform(int64_t n, bool inverse) {
    for (int64_t m = 0; m < n; ++m) {
      const std::complex<double> root = unit_root(m, n);
      roots_.push_back(inverse ? root : std::conj(root));
    }
  }

  /// Return element k of the transform of `line`.
  std::complex<double> element(const std::vector<std::complex<double>>& line, int64_t k) const {
    constexpr int64_t kBlock = 64;  // terms of a partial sum: fewer roundings of large sums
    const auto n = static_cast<int64_t>(line.size());
    double re = 0, im = 0;
    for (int64_t first = 0, turn = 0; first < n; first += kBlock) {
      double block_re = 0, block_im = 0;
      for (int64_t j = first; j < std::min(first + kBlock, n); ++j) {
        const std::complex<double> v = line[static_cast<size_t>(j)],
                                   w = roots_[static_cast<size_t>(turn)];
        block_re += v.real() * w.real() - v.imag() * w.imag();
        block_im += v.real() * w.imag() + v.imag() * w.real();
        turn = turn + k < n ? turn + k : turn + k - n;  // j k modulo n
      }
      re += block_re, im += block_im;
    }
    return {re, im};
  }

 private:
  std::vector<std::complex<double>> roots_;
};

}  // namespace ambit::reference
