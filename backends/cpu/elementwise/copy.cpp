// Copying and converting elements.
#include <ambit/backend/functors.h>

#include "backends/cpu/kernels.h"
#include "backends/cpu/layout/image_slice.h"
#include "backends/cpu/layout/native_scope.h"
#include "backends/cpu/layout/packing.h"
#include "half_loops.h"
#include "inner_loops.h"
#include "walk.h"

namespace ambit::cpu {
namespace {

constexpr int64_t kSide = 32;  // side of the squares for transposing

template <class Bits>
void copy_elements(int64_t n, void* y, int64_t y_stride, const void* x, int64_t x_stride) {
  Bits* to = static_cast<Bits*>(y);
  const Bits* from = static_cast<const Bits*>(x);
  if (y_stride == 1 && x_stride == 0) {
    std::fill_n(to, n, *from);
  } else if (y_stride == 1) {
    for (int64_t i = 0; i < n; ++i) to[i] = from[i * x_stride];
  } else {
    for (int64_t i = 0; i < n; ++i) to[i * y_stride] = from[i * x_stride];
  }
}

/// y [rows][columns] = x, where x is contiguous along dim `rows`. Copies squares through a buffer
/// in the L1 cache, so that x and y are accessed in whole cache lines. Strides are in elements.
template <class Bits>
void transpose_square(int64_t rows, int64_t columns, Bits* y, int64_t y_stride, const Bits* x,
                      int64_t x_stride) {
  Bits square[kSide * kSide];
  for (int64_t c = 0; c < columns; ++c) std::copy_n(x + c * x_stride, rows, square + c * kSide);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) y[r * y_stride + c] = square[c * kSide + r];
  }
}

/// Copy x to y where y's rows are strided in x, and x is contiguous along dim `along` of y.
template <class Bits>
void copy_squares(Bits* y, const Bits* x, Loops<2> loops, size_t along) {
  const size_t last = loops.sizes.size() - 1;
  const int64_t rows = loops.sizes[along], columns = loops.sizes[last];
  const int64_t y_stride = loops.strides[0][along], x_stride = loops.strides[1][last];
  // Each element of the remaining loops is the first one of a plane [rows][columns].
  loops.sizes[along] = loops.sizes[last] = 1;
  loops.numel /= rows * columns;
  const int64_t bands = (rows + kSide - 1) / kSide;
  parallel_for(loops.numel * bands, grain_for(kSide * columns), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      for_runs(loops, i / bands, i / bands + 1, [&](int64_t, const std::array<int64_t, 2>& plane) {
        const int64_t r = i % bands * kSide, height = std::min(kSide, rows - r);
        for (int64_t c = 0; c < columns; c += kSide) {
          transpose_square(height, std::min(kSide, columns - c), y + plane[0] + r * y_stride + c,
                           y_stride, x + plane[1] + r + c * x_stride, x_stride);
        }
      });
    }
  });
}

void copy_same_dtype(const Tensor& y, const Tensor& x) {
  const size_t size = element_size(y.dtype());
  const Loops<2> loops = make_loops<2>({&y, &x});
  const int64_t y_stride = loops.inner_stride(0), x_stride = loops.inner_stride(1);
  if (y_stride == 1 && x_stride > 1 && loops.inner_size() > 1) {
    for (size_t d = 0; d + 1 < loops.sizes.size(); ++d) {
      if (loops.strides[1][d] != 1) continue;
      return visit_size(size, [&]<class Bits>() {
        copy_squares(static_cast<Bits*>(y.data_ptr()), static_cast<const Bits*>(x.data_ptr()),
                     loops, d);
      });
    }
  }
  char* to = static_cast<char*>(y.data_ptr());
  const char* from = static_cast<const char*>(x.data_ptr());
  if (x_stride == 1 && y_stride == 1 && should_stream(loops.inner_size(), loops.numel, size)) {
    return parallel_runs(loops, kGrain, [&](int64_t n, const std::array<int64_t, 2>& offsets) {
      stream(to + offsets[0] * static_cast<int64_t>(size),
             from + offsets[1] * static_cast<int64_t>(size), static_cast<size_t>(n) * size);
      end_stream();
    });
  }
  parallel_runs(loops, kGrain, [&](int64_t n, const std::array<int64_t, 2>& offsets) {
    copy_strided(n, to + offsets[0] * static_cast<int64_t>(size), y_stride,
                 from + offsets[1] * static_cast<int64_t>(size), x_stride, size);
  });
}

// Conversions between reduced floating-point types and other types go through float32.
void copy_reduced_floating(const Tensor& y, const Tensor& x) {
  const bool downcasts = is_reduced_floating(y.dtype()), upcasts = is_reduced_floating(x.dtype());
  const UnaryLoop to_float = upcasts                 ? upcast_loop(x.dtype())
                             : x.dtype() == kFloat32 ? nullptr
                                                     : cast_loop(kFloat32, x.dtype());
  const UnaryLoop from_float = downcasts               ? downcast_loop(y.dtype())
                               : y.dtype() == kFloat32 ? nullptr
                                                       : cast_loop(y.dtype(), kFloat32);
  const auto x_bytes = static_cast<int64_t>(element_size(x.dtype()));
  const auto y_bytes = static_cast<int64_t>(element_size(y.dtype()));
  for_packed_runs<2>({&y, &x}, kGrain, [=](int64_t n, const auto& p) {
    if (!to_float) return from_float(n, p[0], p[1]);
    if (!from_float) return to_float(n, p[0], p[1]);
    constexpr int64_t kPiece = 1024;
    alignas(64) float numbers[kPiece];
    for (int64_t i = 0; i < n; i += kPiece) {
      const int64_t m = std::min(kPiece, n - i);
      to_float(m, numbers, p[1] + i * x_bytes);
      from_float(m, p[0] + i * y_bytes, numbers);
    }
  });
}

}  // namespace

void copy_strided(int64_t n, void* y, int64_t y_stride, const void* x, int64_t x_stride,
                  size_t size) {
  if (y_stride == 1 && x_stride == 1) {
    std::memcpy(y, x, static_cast<size_t>(n) * size);
  } else {
    visit_size(size, [&]<class Bits>() { copy_elements<Bits>(n, y, y_stride, x, x_stride); });
  }
}

void copy(Tensor& y, const Tensor& x) {
  if (y.numel() == 0) return;
  if (y.dtype() == x.dtype()) {
    const ChannelsLastCopy native(y, x);
    return native ? copy_same_dtype(native.y(), native.x()) : copy_same_dtype(y, x);
  }
  if (is_reduced_floating(y.dtype()) || is_reduced_floating(x.dtype())) {
    if (const ChannelsLastCopy part(y, x); part) return copy_reduced_floating(part.y(), part.x());
    if (!propagates_channels_last(y, x)) return copy_reduced_floating(y, x);
    const NativeScope native({.outputs = {&y}, .inputs = {&x}});
    return copy_reduced_floating(native.output(0), native.input(0));
  }
  const UnaryLoop loop = cast_loop(y.dtype(), x.dtype());
  for_packed_runs<2>({&y, &x}, kGrain, [loop](int64_t n, const auto& p) { loop(n, p[0], p[1]); });
}

void fill(Tensor& y, const Scalar& value) {
  const Loops<1> loops = make_loops<1>({&y});
  visit(y.dtype(), [&]<class T>() {
    T* to = y.data_ptr<T>();
    const T number = arithmetic::element_of<T>(value);
    const int64_t stride = loops.inner_stride(0);
    parallel_runs(loops, kGrain, [&](int64_t n, const std::array<int64_t, 1>& offsets) {
      copy_elements<T>(n, to + offsets[0], stride, &number, 0);
    });
  });
}

}  // namespace ambit::cpu
