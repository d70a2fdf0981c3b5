// Sums for normalisations: over contiguous elements, and over the rows of x [R,C] for batch
// normalisation with innermost channels and for the gradients of layer normalisation's weights.
// Rows are summed in blocks that fit the L2 cache. Blocks, and so results, do not depend on the
// number of threads.
#if defined(AMBIT_CPU_NORM_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef AMBIT_CPU_NORM_ROWS_INL_H
#undef AMBIT_CPU_NORM_ROWS_INL_H
#else
#define AMBIT_CPU_NORM_ROWS_INL_H
#endif

#include <ambit/tensor.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/scratch.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
T* data_or_null(const Tensor& t) {
  return t.defined() ? t.data_ptr<T>() : nullptr;
}

/// Return how many elements to sum in T before adding the sum to a double: `most`; with fewer than
/// 8 float lanes proportionally fewer, so that a lane adds as many numbers as with 16 lanes.
template <class T>
HWY_INLINE constexpr int64_t block_of(int64_t most) {
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(hn::ScalableTag<T>()));
  return sizeof(T) == sizeof(double) || kLanes >= 8 ? most : most * kLanes / 16;
}

/// Return the sum of f(i) over n elements, with blocks summed in T.
template <class T, class F>
HWY_INLINE double sum_of(int64_t n, const F& f) {
  constexpr int64_t kBlock = block_of<T>(512);
  double sum = 0;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = std::min(n, begin + kBlock);
    T part = 0;
#pragma omp simd reduction(+ : part)
    for (int64_t i = begin; i < end; ++i) part += f(i);
    sum += static_cast<double>(part);
  }
  return sum;
}

/// A mean, and the sum of squared differences from it.
struct Squares {
  double mean, squares;
};

/// Correct for a `center` that is a rounded mean: `rest` and `squares` are the sums of the n
/// differences from it and of their squares. For an exact mean rest would be 0.
/// Source: Chan, Golub & LeVeque 1983, "Algorithms for computing the sample variance", eq. 1.7.
inline Squares corrected(double center, double rest, double squares, double n) {
  const double shift = rest / n;
  if (!std::isfinite(shift)) return {center, squares};
  return {center + shift, std::max(squares - rest * shift, 0.0)};
}

/// Return the sum of n elements, with blocks summed in T in four independent vectors.
template <class T>
HWY_INLINE double total_of(int64_t n, const T* x) {
  constexpr int64_t kBlock = block_of<T>(2048);
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  double sum = 0;
  int64_t i = 0;
  while (i + 4 * lanes <= n) {
    auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    for (const int64_t end = std::min(n, i + kBlock); i + 4 * lanes <= end; i += 4 * lanes) {
      s0 = hn::Add(s0, hn::LoadU(d, x + i));
      s1 = hn::Add(s1, hn::LoadU(d, x + i + lanes));
      s2 = hn::Add(s2, hn::LoadU(d, x + i + 2 * lanes));
      s3 = hn::Add(s3, hn::LoadU(d, x + i + 3 * lanes));
    }
    const auto all = hn::Add(hn::Add(s0, s1), hn::Add(s2, s3));
    sum += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, all)));
  }
  T part = 0;
  for (; i < n; ++i) part += x[i];
  return sum + static_cast<double>(part);
}

/// Return the sums of g and of g * (x[i] - center), where g = dy[i] * w[i], or dy[i] if w is null,
/// with blocks summed in T in two vectors each.
template <class T>
HWY_INLINE std::pair<double, double> gradient_sums(int64_t n, const T* dy, const T* w, const T* x,
                                                   T center) {
  constexpr int64_t kBlock = block_of<T>(1024);
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto middle = hn::Set(d, center);
  const auto weighted = [&](int64_t i) HWY_ATTR {
    const auto g = hn::LoadU(d, dy + i);
    return w ? hn::Mul(g, hn::LoadU(d, w + i)) : g;
  };
  double sum = 0, product = 0;
  int64_t i = 0;
  while (i + 2 * lanes <= n) {
    auto s0 = hn::Zero(d), s1 = s0, p0 = s0, p1 = s0;
    for (const int64_t end = std::min(n, i + kBlock); i + 2 * lanes <= end; i += 2 * lanes) {
      const auto g0 = weighted(i), g1 = weighted(i + lanes);
      s0 = hn::Add(s0, g0);
      s1 = hn::Add(s1, g1);
      p0 = hn::MulAdd(g0, hn::Sub(hn::LoadU(d, x + i), middle), p0);
      p1 = hn::MulAdd(g1, hn::Sub(hn::LoadU(d, x + i + lanes), middle), p1);
    }
    sum += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Add(s0, s1))));
    product += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Add(p0, p1))));
  }
  T part = 0, part_product = 0;
  for (; i < n; ++i) {
    const T g = w ? dy[i] * w[i] : dy[i];
    part += g;
    part_product += g * (x[i] - center);
  }
  return {sum + static_cast<double>(part), product + static_cast<double>(part_product)};
}

/// Return the sums of d and d^2, d = x[i] - center, with blocks summed in T in two vectors each.
template <class T>
HWY_INLINE std::pair<double, double> sums_about(T center, int64_t n, const T* x) {
  constexpr int64_t kBlock = block_of<T>(1024);
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto middle = hn::Set(d, center);
  double sum = 0, squares = 0;
  int64_t i = 0;
  while (i + 2 * lanes <= n) {
    auto s0 = hn::Zero(d), s1 = s0, q0 = s0, q1 = s0;
    for (const int64_t end = std::min(n, i + kBlock); i + 2 * lanes <= end; i += 2 * lanes) {
      const auto d0 = hn::Sub(hn::LoadU(d, x + i), middle);
      const auto d1 = hn::Sub(hn::LoadU(d, x + i + lanes), middle);
      s0 = hn::Add(s0, d0);
      s1 = hn::Add(s1, d1);
      q0 = hn::MulAdd(d0, d0, q0);
      q1 = hn::MulAdd(d1, d1, q1);
    }
    sum += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Add(s0, s1))));
    squares += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Add(q0, q1))));
  }
  T part = 0, part_squares = 0;
  for (; i < n; ++i) {
    const T rest = x[i] - center;
    part += rest;
    part_squares += rest * rest;
  }
  return {sum + static_cast<double>(part), squares + static_cast<double>(part_squares)};
}

/// Rows in blocks, each with two sums per column.
class RowBlocks {
 public:
  RowBlocks(int64_t R, int64_t C)
      : R_(R),
        C_(C),
        rows_(std::max(kLeastRows, kBlockElements / std::max<int64_t>(1, C))),
        count_((R + rows_ - 1) / rows_),
        sums_(static_cast<size_t>(count_ * 2 * C) * sizeof(double)) {}

  /// Call f(first row, rows, sums [C], sums [C]) for each block.
  template <class F>
  void for_blocks(const F& f) const {
    parallel_for(count_, grain_for(2 * rows_ * C_), [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        double* sums = sums_.data<double>() + b * 2 * C_;
        f(b * rows_, rows_in(b), sums, sums + C_);
      }
    });
  }
  /// As for_blocks, sequentially and in order, with the sums that for_blocks has filled.
  template <class F>
  void merge(const F& f) const {
    for (int64_t b = 0; b < count_; ++b) {
      const double* sums = sums_.data<double>() + b * 2 * C_;
      f(b * rows_, rows_in(b), sums, sums + C_);
    }
  }
  /// Call f(row) for each row.
  template <class F>
  void for_rows(const F& f) const {
    parallel_for(R_, grain_for(C_), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) f(r);
    });
  }

 private:
  static constexpr int64_t kBlockElements = int64_t{1} << 14;
  static constexpr int64_t kLeastRows = 32;  // so that the sums are small compared with the rows
  int64_t rows_in(int64_t block) const { return std::min(rows_, R_ - block * rows_); }

  int64_t R_, C_, rows_, count_;
  Scratch sums_;
};

/// sums[c] = the sum over `rows` rows of f(row, c). 16 rows are summed in T before the sum is added
/// to a double: faster than sums in double alone, and as exact as pairwise summation.
template <class T, class F>
void sum_rows(int64_t rows, int64_t C, double* sums, const F& f) {
  constexpr int64_t kRows = 16, kChannels = 256;
  T part[kChannels];
  std::fill_n(sums, C, 0.0);
  for (int64_t first = 0; first < C; first += kChannels) {
    const int64_t width = std::min(kChannels, C - first);
    for (int64_t begin = 0; begin < rows; begin += kRows) {
      std::fill_n(part, width, T(0));
      for (int64_t r = begin; r < std::min(rows, begin + kRows); ++r) {
#pragma omp simd
        for (int64_t c = 0; c < width; ++c) part[c] += f(r, first + c);
      }
#pragma omp simd
      for (int64_t c = 0; c < width; ++c) sums[first + c] += static_cast<double>(part[c]);
    }
  }
}

/// Refine mean [C], an approximate mean of a block x [rows,C]; squares [C] = the sum of squared
/// differences from it.
template <class T, class X>
void sum_squares(int64_t rows, int64_t C, const X* x, double* mean, double* squares) {
  constexpr int64_t kRows = 16, kChannels = 256;
  T center[kChannels], part[kChannels], part_squares[kChannels];
  double rest[kChannels];
  std::fill_n(squares, C, 0.0);
  for (int64_t first = 0; first < C; first += kChannels) {
    const int64_t width = std::min(kChannels, C - first);
    for (int64_t c = 0; c < width; ++c) center[c] = static_cast<T>(mean[first + c]);
    std::fill_n(rest, width, 0.0);
    for (int64_t begin = 0; begin < rows; begin += kRows) {
      std::fill_n(part, width, T(0));
      std::fill_n(part_squares, width, T(0));
      for (int64_t r = begin; r < std::min(rows, begin + kRows); ++r) {
        const X* row = x + r * C + first;
#pragma omp simd
        for (int64_t c = 0; c < width; ++c) {
          const T d = static_cast<T>(row[c]) - center[c];
          part[c] += d;
          part_squares[c] += d * d;
        }
      }
#pragma omp simd
      for (int64_t c = 0; c < width; ++c) {
        rest[c] += static_cast<double>(part[c]);
        squares[first + c] += static_cast<double>(part_squares[c]);
      }
    }
    for (int64_t c = 0; c < width; ++c) {
      const Squares s = corrected(static_cast<double>(center[c]), rest[c], squares[first + c],
                                  static_cast<double>(rows));
      mean[first + c] = s.mean;
      squares[first + c] = s.squares;
    }
  }
}

/// Compute mean and biased var [C] of x [R,C]. Blocks are merged as in Chan, Golub & LeVeque 1979.
/// Here and below elements of X are converted to T.
template <class T, class X>
void row_statistics(const RowBlocks& blocks, int64_t C, const X* x, double* mean, double* var) {
  blocks.for_blocks([&](int64_t first, int64_t rows, double* block_mean, double* squares) {
    const X* px = x + first * C;
    sum_rows<T>(rows, C, block_mean,
                [=](int64_t r, int64_t c) { return static_cast<T>(px[r * C + c]); });
    for (int64_t c = 0; c < C; ++c) block_mean[c] /= static_cast<double>(rows);
    sum_squares<T>(rows, C, px, block_mean, squares);
  });
  std::fill_n(mean, C, 0.0);
  std::fill_n(var, C, 0.0);
  double count = 0;
  blocks.merge([&](int64_t, int64_t rows, const double* block_mean, const double* squares) {
    const auto n = static_cast<double>(rows), all = count + n;
#pragma omp simd
    for (int64_t c = 0; c < C; ++c) {
      const double d = block_mean[c] - mean[c];
      mean[c] += d * n / all;
      var[c] += squares[c] + d * d * count * n / all;
    }
    count = all;
  });
  for (int64_t c = 0; c < C; ++c) var[c] /= count;
}

/// sum, product [C]: the sums of dy, and of dy * (x - center).
template <class T, class X>
void row_grad_sums(const RowBlocks& blocks, int64_t C, const X* dy, const X* x, const T* center,
                   double* sum, double* product) {
  blocks.for_blocks([&](int64_t first, int64_t rows, double* sums, double* products) {
    const X *pdy = dy + first * C, *px = x + first * C;
    sum_rows<T>(rows, C, sums,
                [=](int64_t r, int64_t c) { return static_cast<T>(pdy[r * C + c]); });
    sum_rows<T>(rows, C, products, [=](int64_t r, int64_t c) {
      const int64_t i = r * C + c;
      return static_cast<T>(pdy[i]) * (static_cast<T>(px[i]) - center[c]);
    });
  });
  std::fill_n(sum, C, 0.0);
  std::fill_n(product, C, 0.0);
  blocks.merge([&](int64_t, int64_t, const double* sums, const double* products) {
#pragma omp simd
    for (int64_t c = 0; c < C; ++c) {
      sum[c] += sums[c];
      product[c] += products[c];
    }
  });
}

}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
