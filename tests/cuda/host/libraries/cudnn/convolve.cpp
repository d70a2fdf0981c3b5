#include "convolve.h"

#include <algorithm>
#include <numeric>

#include "tests/cuda/host/queue.h"

namespace ambit::cuda::host::cudnn {
namespace {

/// One dim of a window: position i of the output uses position i * stride - before + tap * dilation
/// of the input.
struct Axis {
  int64_t in, out, taps, stride, before, dilation;
  bool flipped;

  Axis(const Convolution& c, size_t dim)
      : in(c.x.sizes[dim + 2]),
        out(c.y.sizes[dim + 2]),
        taps(c.w.sizes[dim + 2]),
        stride(c.stride[dim]),
        before(c.before[dim]),
        dilation(c.dilation[dim]),
        flipped(c.flipped) {}

  int64_t shift(int64_t tap) const { return (flipped ? taps - 1 - tap : tap) * dilation - before; }
  /// The output positions whose input is inside: [first, last).
  int64_t first(int64_t tap) const {
    const int64_t s = shift(tap);
    return s >= 0 ? 0 : std::min(out, (-s + stride - 1) / stride);
  }
  int64_t last(int64_t tap) const {
    const int64_t room =
        in - shift(tap);  // number of input positions from that of the first tap on
    return room <= 0 ? 0 : std::min(out, (room + stride - 1) / stride);
  }
};

/// A pair of an output row and an input row that one row of the filter connects.
template <class T>
struct Rows {
  T *x, *w, *y;  // w: one element
  int64_t first, last, stride;

  void forward() const {
    const T factor = *w;
    for (int64_t i = first; i < last; ++i) y[i] += x[i * stride] * factor;
  }
  void data() const {
    const T factor = *w;
    for (int64_t i = first; i < last; ++i) x[i * stride] += y[i] * factor;
  }
  void filter() const {
    T sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = first; i < last; ++i) sum += x[i * stride] * y[i];
    *w += sum;
  }
};

// Add the contribution of one element of the batch, one filter, and one channel of its group.
template <class T>
void convolve_planes(const Convolution& c, T* x, T* w, T* y) {
  const auto last = static_cast<size_t>(c.spatial_dims) - 1;
  const Axis h(c, last - 1), v(c, last);
  for (int64_t r = 0; r < h.taps; ++r) {
    for (int64_t s = 0; s < v.taps; ++s) {
      Rows<T> rows{nullptr, w + r * v.taps + s, nullptr, v.first(s), v.last(s), v.stride};
      for (int64_t p = h.first(r); p < h.last(r); ++p) {
        rows.x = x + (p * h.stride + h.shift(r)) * v.in + v.shift(s);
        rows.y = y + p * v.out;
        switch (c.kind) {
          case ConvKind::forward:
            rows.forward();
            break;
          case ConvKind::data:
            rows.data();
            break;
          case ConvKind::filter:
            rows.filter();
        }
      }
    }
  }
}

/// Return the number of elements in the dims of a tensor from `first` on.
int64_t elements(const Tensor& t, size_t first) {
  int64_t n = 1;
  for (size_t d = first; d < t.sizes.size(); ++d) n *= t.sizes[d];
  return n;
}

// Convolve with a depth dim, if there is one: one pair of planes for each slice of the filter.
template <class T>
void convolve_volumes(const Convolution& c, T* x, T* w, T* y) {
  if (c.spatial_dims == 2) return convolve_planes(c, x, w, y);
  const Axis depth(c, 0);
  const int64_t x_plane = elements(c.x, 3), w_plane = elements(c.w, 3), y_plane = elements(c.y, 3);
  for (int64_t t = 0; t < depth.taps; ++t) {
    for (int64_t o = depth.first(t); o < depth.last(t); ++o) {
      convolve_planes(c, x + (o * depth.stride + depth.shift(t)) * x_plane, w + t * w_plane,
                      y + o * y_plane);
    }
  }
}

// Round the sums of a pair of planes.
template <class T>
void narrow(const Convolution& c, T* x, T* w, T* y) {
  T* sums = c.kind == ConvKind::forward ? y : c.kind == ConvKind::data ? x : w;
  const int64_t n = elements(c.output(), 2);
  std::transform(sums, sums + n, sums, [&](T v) { return rounded(v, c.x.element()); });
}

std::vector<int64_t> order_of(int64_t parts, Arithmetic arithmetic) {
  std::vector<int64_t> order(static_cast<size_t>(parts));
  std::iota(order.begin(), order.end(), int64_t{0});
  if (arithmetic != Arithmetic::shuffled) return order;
  for (size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[random_below(static_cast<unsigned>(i))]);
  }
  return order;
}

}  // namespace

template <class T>
void convolve(const Convolution& c, Arithmetic arithmetic, Operands<T>& operands) {
  const int64_t channels = c.w.sizes[1], filters = c.w.sizes[0], per_group = filters / c.groups();
  const int64_t x_size = elements(c.x, 2), w_size = elements(c.w, 2), y_size = elements(c.y, 2);
  // Sums run over filters for the data, and over the batch for filters; these loops are outermost.
  const std::vector<int64_t> batch = order_of(c.x.sizes[0], arithmetic);
  const std::vector<int64_t> order = order_of(filters, arithmetic);
  for (const int64_t n : batch) {
    for (const int64_t k : order) {
      T* y = operands.y.data() + (n * filters + k) * y_size;
      for (int64_t channel = 0; channel < channels; ++channel) {
        const int64_t from = k / per_group * channels + channel;
        T* x = operands.x.data() + (n * c.x.sizes[1] + from) * x_size;
        T* w = operands.w.data() + (k * channels + channel) * w_size;
        convolve_volumes(c, x, w, y);
        if (arithmetic == Arithmetic::narrow) narrow(c, x, w, y);
      }
    }
  }
}
template void convolve(const Convolution&, Arithmetic, Operands<float>&);
template void convolve(const Convolution&, Arithmetic, Operands<double>&);

}  // namespace ambit::cuda::host::cudnn
