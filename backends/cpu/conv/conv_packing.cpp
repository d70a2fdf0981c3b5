#include "conv_packing.h"

#include <algorithm>
#include <bit>

#include "backends/cpu/layout/packing.h"

namespace ambit::cpu {
namespace {

/// The elements i of a phase that exist in x: i * stride + start is in [0, size).
struct Valid {
  Valid(int64_t start, int64_t stride, int64_t size, int64_t count) {
    begin = std::min(count, start >= 0 ? 0 : ceil_div(-start, stride));
    end = std::clamp(ceil_div(size - start, stride), begin, count);
  }
  int64_t begin, end;
};

/// Call f(packed row, x row or -1, existing columns, first column of x) for each packed row.
template <class F>
void for_packed_rows(const ConvPacking& packing, const F& f) {
  const ConvSizes& g = packing.sizes;
  const auto [stride_d, stride_h, stride_w] = g.stride;
  int64_t row = 0;
  for (int64_t c = 0; c < g.C; ++c) {
    // Phase (a, b, e): every stride_d-th plane from a, every stride_h-th row from b, and so on.
    for (int64_t i = 0; i < stride_d * stride_h * stride_w; ++i) {
      const int64_t a = i / stride_w / stride_h, b = i / stride_w % stride_h, e = i % stride_w;
      const int64_t start = e - g.padding[2];
      const Valid columns(start, stride_w, g.W, packing.pitch);
      for (int64_t o = 0; o < packing.planes; ++o) {
        const int64_t d = o * stride_d + a - g.padding[0];
        for (int64_t r = 0; r < packing.rows; ++r, ++row) {
          const int64_t h = r * stride_h + b - g.padding[1];
          const bool exists = d >= 0 && d < g.D && h >= 0 && h < g.H;
          f(row * packing.pitch, exists ? ((c * g.D + d) * g.H + h) * g.W : -1, columns,
            columns.begin * stride_w + start);
        }
      }
    }
  }
}

constexpr size_t kLongestVector = 256;         // bytes, of any target
constexpr int64_t kCached = int64_t{4} << 20;  // bytes

template <class T>
void pack_image(const ConvPacking& packing, T* packed, const T* x) {
  for_packed_rows(packing, [&](int64_t to, int64_t from, const Valid& valid, int64_t first) {
    T* row = packed + to;
    if (from < 0) {
      std::fill_n(row, packing.pitch, T(0));
      return;
    }
    std::fill_n(row, valid.begin, T(0));
    copy_strided(valid.end - valid.begin, row + valid.begin, 1, x + from + first,
                 packing.sizes.stride[2], sizeof(T));
    std::fill(row + valid.end, row + packing.pitch, T(0));
  });
}

/// Return how many of the last images to copy: vectors read past an image, into the next one.
template <class T>
int64_t images_to_copy(const ConvPacking& packing) {
  const auto bytes = static_cast<int64_t>(kLongestVector);
  const int64_t image_bytes = packing.image() * static_cast<int64_t>(sizeof(T));
  return std::min(packing.sizes.N, ceil_div(bytes, std::max<int64_t>(1, image_bytes)));
}

/// Return a power of two, which thread counts usually divide evenly.
int64_t count_parts(const ConvSizes& g, int64_t bytes) {
  constexpr int64_t kMost = 8;
  const int64_t most = std::min({kMost, g.N, g.work() / kProductGrain, kCached / bytes});
  return most < 2 ? 1 : static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(most)));
}

}  // namespace

ConvPacking::ConvPacking(const ConvSizes& g) : sizes(g) {
  const auto [stride_d, stride_h, stride_w] = g.stride;
  const auto [dilation_d, dilation_h, dilation_w] = g.dilation;
  planes = ceil_div((g.O - 1) * stride_d + (g.T - 1) * dilation_d + 1, stride_d);
  rows = ceil_div((g.P - 1) * stride_h + (g.R - 1) * dilation_h + 1, stride_h);
  pitch = ceil_div((g.Q - 1) * stride_w + (g.S - 1) * dilation_w + 1, stride_w);
  plane = rows * pitch;
  const int64_t phase = planes * plane;
  channel = stride_d * stride_h * stride_w * phase;
  offsets.reserve(static_cast<size_t>(g.taps()));
  for (int64_t c = 0; c < g.Cg; ++c) {
    for (int64_t t = 0; t < g.T * dilation_d; t += dilation_d) {
      for (int64_t r = 0; r < g.R * dilation_h; r += dilation_h) {
        const int64_t before = (t % stride_d * stride_h + r % stride_h) * stride_w;
        const int64_t first = c * channel + t / stride_d * plane + r / stride_h * pitch;
        for (int64_t s = 0; s < g.S * dilation_w; s += dilation_w) {
          offsets.push_back(first + (before + s % stride_w) * phase + s / stride_w);
        }
      }
    }
  }
}

int64_t ConvPacking::images_at_once(size_t element_size) const {
  if (changes_nothing()) return sizes.N;
  const int64_t bytes = image() * static_cast<int64_t>(element_size);
  return std::clamp<int64_t>(kCached / std::max<int64_t>(1, bytes), 1, sizes.N);
}

template <class T>
PackedImages<T>::PackedImages(const ConvPacking& packing, const T* x, int64_t most)
    : packing_(packing),
      x_(x),
      in_place_(packing.changes_nothing() ? packing.sizes.N - images_to_copy<T>(packing) : 0),
      room_(static_cast<size_t>(std::min(most, packing.sizes.N - in_place_) * packing.image()) *
                sizeof(T) +
            kLongestVector) {}

template <class T>
void PackedImages<T>::take(int64_t first, int64_t past) {
  first_ = first;
  const int64_t begin = std::max(first, in_place_);
  const int64_t one = packing_.sizes.C * packing_.sizes.x_plane();
  parallel_for(past - begin, grain_for(packing_.image()), [&](int64_t i, int64_t end) {
    for (; i < end; ++i) pack_image(packing_, room(begin + i), x_ + (begin + i) * one);
  });
}

template <class T>
AlignedRows<T>::AlignedRows(const ConvSizes& g, const T* dy, int64_t lanes, int64_t most,
                            int64_t times)
    : sizes_(g),
      dy_(dy),
      copies_(times >= 4 && g.Q % lanes != 0 && 2 * g.Q > round_up(g.Q, lanes)),
      pitch_(copies_ ? round_up(g.Q, lanes) : g.Q),
      room_(copies_ ? static_cast<size_t>(most * g.K * g.O * g.P * pitch_) * sizeof(T) : 0),
      rows_(dy) {}

template <class T>
void AlignedRows<T>::take(int64_t first, int64_t past) {
  first_ = first;
  rows_ = dy_ + first * sizes_.K * sizes_.y_plane();
  if (!copies_) return;
  const int64_t rows = (past - first) * sizes_.K * sizes_.O * sizes_.P;
  for (int64_t i = 0; i < rows; ++i) {
    std::copy_n(rows_ + i * sizes_.Q, sizes_.Q, room_.data<T>() + i * pitch_);
  }
  rows_ = room_.data<T>();
}

template <class T>
PartSums<T>::PartSums(const ConvSizes& g, T* sums, int64_t length)
    : sums_(sums),
      length_(length),
      parts_(count_parts(g, length * static_cast<int64_t>(sizeof(T)))),
      room_(static_cast<size_t>((parts_ - 1) * length) * sizeof(T)) {
  std::fill_n(sums_, length_, T(0));
  std::fill_n(room_.data<T>(), (parts_ - 1) * length_, T(0));
}

template <class T>
void PartSums<T>::finish() const {
  for (int64_t part = 1; part < parts_; ++part) {
    const T* const from = of(part);
    for (int64_t i = 0; i < length_; ++i) sums_[i] += from[i];
  }
}

template <class T>
void unpack_image(const ConvPacking& packing, T* x, const T* packed) {
  const ConvSizes& g = packing.sizes;
  if (packing.changes_nothing()) {
    std::copy_n(packed, packing.image(), x);
    return;
  }
  std::fill_n(x, g.C * g.x_plane(), T(0));  // strided convolutions may not read elements at the end
  for_packed_rows(packing, [&](int64_t from, int64_t to, const Valid& valid, int64_t first) {
    if (to < 0) return;
    copy_strided(valid.end - valid.begin, x + to + first, g.stride[2], packed + from + valid.begin,
                 1, sizeof(T));
  });
}

template class PackedImages<float>;
template class PackedImages<double>;
template class AlignedRows<float>;
template class AlignedRows<double>;
template class PartSums<float>;
template class PartSums<double>;
template void unpack_image(const ConvPacking&, float*, const float*);
template void unpack_image(const ConvPacking&, double*, const double*);

}  // namespace ambit::cpu
