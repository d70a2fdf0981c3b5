// The discrete Fourier transform of real lines and its inverse by PocketFFT, of one line or of
// several lines in the lanes of vectors. A plan converts a line of N numbers in place: from the
// real numbers to re[0], re[1], im[1], re[2], im[2], ..., and for even N re[N / 2] at the end; or
// back.
#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels.h"
#include "backends/cpu/runtime/scratch.h"
#include "plans.h"

namespace ambit::cpu {
namespace {

template <class T>
using Plan = pocketfft::detail::pocketfft_r<T>;

/// Lines of `real` [B,N,C] and `pairs` [B,N/2+1,C,2]; line i is column i % C of matrix i / C. The
/// transform reads one of them and writes the other.
template <class T>
struct RealLines {
  T* real;
  T* pairs;
  int64_t N, C;
  const Plan<T>& plan;
  T scale;
  bool inverse;

  T* real_start(int64_t line) const { return real + line / C * N * C + line % C; }
  T* pairs_start(int64_t line) const { return pairs + 2 * (line / C * (N / 2 + 1) * C + line % C); }
  // Return the position in a line of pairs that holds element p of the plan's line.
  int64_t place(int64_t p) const { return p == 0 ? 0 : (p + 1) / 2 * 2 * C + (p + 1) % 2; }
  // Write the imaginary parts that the plan's line omits because they are 0.
  void fill_zeros(T* pairs_of_line) const {
    pairs_of_line[1] = 0;
    if (N % 2 == 0) pairs_of_line[N * C + 1] = 0;
  }

  void transform_one(int64_t line) const {
    T *const x = real_start(line), *const z = pairs_start(line);
    if (C == 1) return transform_row(x, z);
    const Scratch scratch(static_cast<size_t>(N) * sizeof(T));
    auto* const buffer = scratch.data<T>();
    if (inverse) {
      for (int64_t p = 0; p < N; ++p) buffer[p] = z[place(p)];
      plan.exec(buffer, scale, false);
      for (int64_t j = 0; j < N; ++j) x[j * C] = buffer[j];
    } else {
      for (int64_t j = 0; j < N; ++j) buffer[j] = x[j * C];
      plan.exec(buffer, scale, true);
      for (int64_t p = 0; p < N; ++p) z[place(p)] = buffer[p];
      fill_zeros(z);
    }
  }

  // From element 1 on, the plan's line has the order of a contiguous line of pairs.
  void transform_row(T* x, T* z) const {
    const auto rest = static_cast<size_t>(N - 1) * sizeof(T);
    if (inverse) {
      x[0] = z[0];
      std::memcpy(x + 1, z + 2, rest);
      return plan.exec(x, scale, false);
    }
    std::memcpy(z + 1, x, rest + sizeof(T));
    plan.exec(z + 1, scale, true);
    z[0] = z[1];
    fill_zeros(z);
  }

#ifndef POCKETFFT_NO_VECTORS
  void transform_lanes(int64_t line) const {
    constexpr int64_t kLanes = kLinesAtOnce<T>;
    using Vector = pocketfft::detail::vtype_t<T>;
    const Scratch scratch(static_cast<size_t>(N) * sizeof(Vector));
    auto* const buffer = scratch.data<Vector>();
    T *x[kLanes], *z[kLanes];
    for (int64_t i = 0; i < kLanes; ++i) x[i] = real_start(line + i), z[i] = pairs_start(line + i);
    if (inverse) {
      for (int64_t p = 0; p < N; ++p) {
        for (int64_t i = 0; i < kLanes; ++i) buffer[p][i] = z[i][place(p)];
      }
      plan.exec(buffer, scale, false);
      for (int64_t j = 0; j < N; ++j) {
        for (int64_t i = 0; i < kLanes; ++i) x[i][j * C] = buffer[j][i];
      }
    } else {
      for (int64_t j = 0; j < N; ++j) {
        for (int64_t i = 0; i < kLanes; ++i) buffer[j][i] = x[i][j * C];
      }
      plan.exec(buffer, scale, true);
      for (int64_t p = 0; p < N; ++p) {
        for (int64_t i = 0; i < kLanes; ++i) z[i][place(p)] = buffer[p][i];
      }
      for (T* line_of_pairs : z) fill_zeros(line_of_pairs);
    }
  }
#else
  void transform_lanes(int64_t line) const { transform_one(line); }
#endif
};

}  // namespace

void fft_real(Tensor& y, const Tensor& x, bool inverse, double scale) {
  const Tensor &real = inverse ? y : x, &pairs = inverse ? x : y;
  const int64_t B = real.size(0), N = real.size(1), C = real.size(2), count = B * C;
  if (count == 0 || N == 0) return;
  visit<dtypes::kFloating>(x.dtype(), [&]<class T>() {
    const auto plan = plan_of<Plan<T>>(static_cast<size_t>(N));
    const RealLines<T> lines{
        real.data_ptr<T>(), pairs.data_ptr<T>(), N, C, *plan, static_cast<T>(scale), inverse};
    transform_lines<T>(lines, count, work_of_line(N) / 2);
  });
}

}  // namespace ambit::cpu
