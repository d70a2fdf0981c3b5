// The inner loop of matrix products and convolutions: a tile of M rows by N vectors of sums in
// registers.
#if defined(AMBIT_CPU_TILE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef AMBIT_CPU_TILE_INL_H
#undef AMBIT_CPU_TILE_INL_H
#else
#define AMBIT_CPU_TILE_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// As many sums as fit in the 32 or 16 registers, together with N vectors and one broadcast element.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
inline constexpr size_t kTileRows = 6, kTileVectors = 4;
#else
inline constexpr size_t kTileRows = 6, kTileVectors = 2;
#endif

/// M x N vectors of T. Loops over them are pack expansions, so that the compiler keeps them in
/// registers.
template <class T, size_t M, size_t N>
class Tile {
 public:
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  static constexpr int64_t kLanes = hn::MaxLanes(D());
  static constexpr int64_t kWidth = kLanes * static_cast<int64_t>(N);

  HWY_INLINE Tile() { clear(std::make_index_sequence<M * N>()); }

  /// sums[m][:] += a[m] * b[:], b of kWidth elements.
  HWY_INLINE void add_product(const T* HWY_RESTRICT a, const T* HWY_RESTRICT b) {
    V vectors[N];
    load(vectors, b, std::make_index_sequence<N>());
    multiply(a, vectors, std::make_index_sequence<M * N>());
  }
  /// sums[m][:] += a[m * row_stride] * b[:].
  HWY_INLINE void add_product(const T* HWY_RESTRICT a, int64_t row_stride,
                              const T* HWY_RESTRICT b) {
    V vectors[N];
    load(vectors, b, std::make_index_sequence<N>());
    multiply(a, row_stride, vectors, std::make_index_sequence<M * N>());
  }
  /// sums[m][:] += row[:].
  HWY_INLINE void add_row(const T* row) { add_row(row, std::make_index_sequence<M * N>()); }
  /// y[m * row_stride + :] += sums[m][:].
  HWY_INLINE void add_to(T* y, int64_t row_stride) const {
    add_to(y, row_stride, std::make_index_sequence<M * N>());
  }
  /// y[m * row_stride + :] += sums[m][:] for the first `count` elements. Without masked stores, the
  /// elements after them are written back unchanged.
  HWY_INLINE void add_first_to(int64_t count, T* y, int64_t row_stride) const {
    hn::Mask<D> used[N];
    mask(count, used, std::make_index_sequence<N>());
    add_used_to(used, y, row_stride, std::make_index_sequence<M * N>());
  }
  /// y[m * row_stride + :] = sums[m][:].
  HWY_INLINE void store(T* y, int64_t row_stride) const {
    store(y, row_stride, std::make_index_sequence<M * N>());
  }

 private:
  template <size_t... I>
  HWY_INLINE void clear(std::index_sequence<I...>) {
    ((sums_[I] = hn::Zero(D())), ...);
  }
  template <size_t... I>
  HWY_INLINE void load(V* vectors, const T* b, std::index_sequence<I...>) {
    ((vectors[I] = hn::LoadU(D(), b + I * kLanes)), ...);
  }
  template <size_t... I>
  HWY_INLINE void multiply(const T* a, const V* vectors, std::index_sequence<I...>) {
    ((sums_[I] = hn::MulAdd(hn::Set(D(), a[I / N]), vectors[I % N], sums_[I])), ...);
  }
  template <size_t... I>
  HWY_INLINE void multiply(const T* a, int64_t row_stride, const V* vectors,
                           std::index_sequence<I...>) {
    ((sums_[I] = hn::MulAdd(hn::Set(D(), a[static_cast<int64_t>(I / N) * row_stride]),
                            vectors[I % N], sums_[I])),
     ...);
  }
  template <size_t... I>
  HWY_INLINE void add_row(const T* row, std::index_sequence<I...>) {
    ((sums_[I] = hn::Add(sums_[I], hn::LoadU(D(), row + (I % N) * kLanes))), ...);
  }
  template <size_t I>
  static HWY_INLINE T* place(T* y, int64_t row_stride) {
    return y + static_cast<int64_t>(I / N) * row_stride + static_cast<int64_t>(I % N) * kLanes;
  }
  template <size_t... I>
  HWY_INLINE void add_to(T* y, int64_t row_stride, std::index_sequence<I...>) const {
    (hn::StoreU(hn::Add(sums_[I], hn::LoadU(D(), place<I>(y, row_stride))), D(),
                place<I>(y, row_stride)),
     ...);
  }
  template <size_t... I>
  static HWY_INLINE void mask(int64_t count, hn::Mask<D>* used, std::index_sequence<I...>) {
    ((used[I] = hn::FirstN(D(), static_cast<size_t>(std::clamp<int64_t>(
                                    count - static_cast<int64_t>(I) * kLanes, 0, kLanes)))),
     ...);
  }
  template <size_t... I>
  HWY_INLINE void add_used_to(const hn::Mask<D>* used, T* y, int64_t row_stride,
                              std::index_sequence<I...>) const {
    (hn::BlendedStore(hn::Add(sums_[I], hn::LoadU(D(), place<I>(y, row_stride))), used[I % N], D(),
                      place<I>(y, row_stride)),
     ...);
  }
  template <size_t... I>
  HWY_INLINE void store(T* y, int64_t row_stride, std::index_sequence<I...>) const {
    (hn::StoreU(sums_[I], D(), y + static_cast<int64_t>(I / N) * row_stride + (I % N) * kLanes),
     ...);
  }

  V sums_[M * N];
};

}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
