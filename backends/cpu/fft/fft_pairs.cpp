// The discrete Fourier transform by PocketFFT, of one line or of several lines in the lanes of
// vectors.
#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels.h"
#include "backends/cpu/runtime/scratch.h"
#include "plans.h"

namespace ambit::cpu {
namespace {

template <class T>
using Complex = pocketfft::detail::cmplx<T>;
template <class T>
using Plan = pocketfft::detail::pocketfft_c<T>;

/// The lines of x and y [B,N,C,2]; line i is column i % C of matrix i / C.
template <class T>
struct Lines {
  const Complex<T>* x;
  Complex<T>* y;
  int64_t N, C;
  const Plan<T>& plan;
  T scale;
  bool is_forward;

  int64_t start(int64_t line) const { return line / C * N * C + line % C; }

  void transform_one(int64_t line) const {
    const int64_t first = start(line);
    if (C == 1) {
      std::memcpy(static_cast<void*>(y + first), x + first,
                  static_cast<size_t>(N) * sizeof(Complex<T>));
      return plan.exec(y + first, scale, is_forward);
    }
    const Scratch scratch(static_cast<size_t>(N) * sizeof(Complex<T>));
    auto* const buffer = scratch.data<Complex<T>>();
    for (int64_t j = 0; j < N; ++j) buffer[j] = x[first + j * C];
    plan.exec(buffer, scale, is_forward);
    for (int64_t j = 0; j < N; ++j) y[first + j * C] = buffer[j];
  }

  static constexpr int64_t kLanes = kLinesAtOnce<T>;

#ifndef POCKETFFT_NO_VECTORS
  void transform_lanes(int64_t line) const {
    using Vector = pocketfft::detail::vtype_t<T>;
    const Scratch scratch(static_cast<size_t>(N) * sizeof(Complex<Vector>));
    auto* const buffer = scratch.data<Complex<Vector>>();
    int64_t first[kLanes];
    for (int64_t i = 0; i < kLanes; ++i) first[i] = start(line + i);
    for (int64_t j = 0; j < N; ++j) {
      for (int64_t i = 0; i < kLanes; ++i) {
        const Complex<T> v = x[first[i] + j * C];
        buffer[j].r[i] = v.r, buffer[j].i[i] = v.i;
      }
    }
    plan.exec(buffer, scale, is_forward);
    for (int64_t j = 0; j < N; ++j) {
      for (int64_t i = 0; i < kLanes; ++i) {
        y[first[i] + j * C].Set(buffer[j].r[i], buffer[j].i[i]);
      }
    }
  }
#else
  void transform_lanes(int64_t line) const { transform_one(line); }
#endif
};

}  // namespace

void fft_pairs(Tensor& y, const Tensor& x, bool inverse, double scale) {
  const int64_t B = x.size(0), N = x.size(1), C = x.size(2), count = B * C;
  if (count == 0 || N == 0) return;
  visit<dtypes::kFloating>(x.dtype(), [&]<class T>() {
    const auto plan = plan_of<Plan<T>>(static_cast<size_t>(N));
    const Lines<T> lines{reinterpret_cast<const Complex<T>*>(x.data_ptr<T>()),
                         reinterpret_cast<Complex<T>*>(y.data_ptr<T>()),
                         N,
                         C,
                         *plan,
                         static_cast<T>(scale),
                         !inverse};
    transform_lines<T>(lines, count, work_of_line(N));
  });
}

}  // namespace ambit::cpu
