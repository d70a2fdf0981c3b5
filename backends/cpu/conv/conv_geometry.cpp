#include "conv_geometry.h"

#include <algorithm>

#include "backends/cpu/layout/packing.h"

namespace ambit::cpu {
namespace {

/// Elements i of a phase that exist in x: i * stride + start in [0, size).
struct Valid {
  Valid(int64_t start, int64_t stride, int64_t size, int64_t count) {
    begin = std::min(count, start >= 0 ? 0 : ceil_div(-start, stride));
    end = std::clamp(ceil_div(size - start, stride), begin, count);
  }
  int64_t begin, end;
};

/// Call f(packed row, x row or -1, columns that exist, first column of x) for each packed row.
template <class F>
void for_packed_lines(const ConvGeometry& g, const F& f) {
  const auto [stride_h, stride_w] = g.p.stride;
  int64_t line = 0;
  for (int64_t c = 0; c < g.C; ++c) {
    for (int64_t a = 0; a < stride_h; ++a) {
      for (int64_t b = 0; b < stride_w; ++b) {
        const int64_t start = b - g.p.padding[1];
        const Valid columns(start, stride_w, g.W, g.pitch);
        for (int64_t i = 0; i < g.rows; ++i, ++line) {
          const int64_t h = i * stride_h + a - g.p.padding[0];
          const bool exists = h >= 0 && h < g.H;
          f(line * g.pitch, exists ? (c * g.H + h) * g.W : -1, columns,
            columns.begin * stride_w + start);
        }
      }
    }
  }
}

template <class T>
void pack_image(const ConvGeometry& g, T* packed, const T* x) {
  for_packed_lines(g, [&](int64_t to, int64_t from, const Valid& valid, int64_t first) {
    T* line = packed + to;
    if (from < 0) {
      std::fill_n(line, g.pitch, T(0));
      return;
    }
    std::fill_n(line, valid.begin, T(0));
    copy_strided(valid.end - valid.begin, line + valid.begin, 1, x + from + first, g.p.stride[1],
                 sizeof(T));
    std::fill(line + valid.end, line + g.pitch, T(0));
  });
}

}  // namespace

ConvGeometry::ConvGeometry(IntArrayRef x, IntArrayRef w, IntArrayRef y, const Conv2dParams& params)
    : N(x[0]),
      C(x[1]),
      H(x[2]),
      W(x[3]),
      K(w[0]),
      R(w[2]),
      S(w[3]),
      P(y[2]),
      Q(y[3]),
      groups(params.groups),
      Cg(C / groups),
      Kg(K / groups),
      p(params) {
  const auto [stride_h, stride_w] = p.stride;
  const auto [dilation_h, dilation_w] = p.dilation;
  rows = ceil_div((P - 1) * stride_h + (R - 1) * dilation_h + 1, stride_h);
  pitch = ceil_div((Q - 1) * stride_w + (S - 1) * dilation_w + 1, stride_w);
  channel = stride_h * stride_w * rows * pitch;
  offsets.reserve(static_cast<size_t>(taps()));
  for (int64_t c = 0; c < Cg; ++c) {
    for (int64_t r = 0; r < R * dilation_h; r += dilation_h) {
      for (int64_t s = 0; s < S * dilation_w; s += dilation_w) {
        const int64_t phase = r % stride_h * stride_w + s % stride_w;
        offsets.push_back(c * channel + (phase * rows + r / stride_h) * pitch + s / stride_w);
      }
    }
  }
}

int64_t ConvGeometry::images_at_once(size_t element_size) const {
  constexpr int64_t kBytes = int64_t{4} << 20;
  const int64_t bytes = image() * static_cast<int64_t>(element_size);
  return std::clamp<int64_t>(kBytes / std::max<int64_t>(1, bytes), 1, N);
}

template <class T>
void pack_images(const ConvGeometry& g, int64_t images, T* packed, const T* x) {
  parallel_for(images, grain_for(g.image()), [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      pack_image(g, packed + n * g.image(), x + n * g.C * g.H * g.W);
    }
  });
}

template <class T>
void unpack_image(const ConvGeometry& g, T* x, const T* packed) {
  std::fill_n(x, g.C * g.H * g.W, T(0));  // a stride may leave out elements at the end
  for_packed_lines(g, [&](int64_t from, int64_t to, const Valid& valid, int64_t first) {
    if (to < 0) return;
    copy_strided(valid.end - valid.begin, x + to + first, g.p.stride[1],
                 packed + from + valid.begin, 1, sizeof(T));
  });
}

template void pack_images(const ConvGeometry&, int64_t, float*, const float*);
template void pack_images(const ConvGeometry&, int64_t, double*, const double*);
template void unpack_image(const ConvGeometry&, float*, const float*);
template void unpack_image(const ConvGeometry&, double*, const double*);

}  // namespace ambit::cpu
