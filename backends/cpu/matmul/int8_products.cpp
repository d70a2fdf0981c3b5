// int8 products for CPUs without VNNI, and the quantisation of rows.
#include "int8_products.h"

#include "backends/cpu/runtime/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/matmul/int8_products.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

/// Return the largest abs(x[k]), or NaN if any element is NaN.
float largest_of(int64_t K, const float* x) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto largest = hn::Zero(d);
  auto odd = hn::Zero(d);  // x - x: NaN for NaN and Inf
  int64_t k = 0;
  for (; k + lanes <= K; k += lanes) {
    const auto v = hn::LoadU(d, x + k);
    largest = hn::Max(largest, hn::Abs(v));
    odd = hn::Add(odd, hn::Sub(v, v));
  }
  float most = hn::GetLane(hn::MaxOfLanes(d, largest));
  float strange = hn::GetLane(hn::SumOfLanes(d, odd));
  for (; k < K; ++k) {
    most = std::max(most, std::abs(x[k]));
    strange += x[k] - x[k];
  }
  return strange == 0 ? most : std::numeric_limits<float>::quiet_NaN();
}

Int8Row quantize(int64_t K, int8_t* q, int64_t pitch, const float* x) {
  const float largest = largest_of(K, x);
  if (!(largest >= 1e-36F)) {  // all zero, or NaN
    std::fill(q, q + pitch, int8_t{0});
    return {largest / 127, 0};
  }
  std::fill(q + K, q + pitch, int8_t{0});
  const float factor = 127 / largest;
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> d32;
  const hn::Rebind<int16_t, decltype(d)> d16;
  const hn::Rebind<int8_t, decltype(d)> d8;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto factors = hn::Set(d, factor);
  auto totals = hn::Zero(d32);
  int64_t k = 0;
  for (; k + lanes <= K; k += lanes) {
    const auto v = hn::NearestInt(hn::Mul(hn::LoadU(d, x + k), factors));
    totals = hn::Add(totals, v);
    hn::StoreU(hn::DemoteTo(d8, hn::DemoteTo(d16, v)), d8, q + k);
  }
  int32_t total = hn::GetLane(hn::SumOfLanes(d32, totals));
  for (; k < K; ++k) {
    q[k] = static_cast<int8_t>(std::nearbyint(x[k] * factor));
    total += q[k];
  }
  return {largest / 127, total};
}

/// A tile of R x C sums. Loops over them are pack expansions, so that the compiler keeps them in
/// registers.
template <size_t R, size_t C>
class Sums {
  using D32 = hn::ScalableTag<int32_t>;
  using D16 = hn::ScalableTag<int16_t>;
  using D8 = hn::Rebind<int8_t, D16>;
  using V32 = hn::Vec<D32>;
  using V16 = hn::Vec<D16>;

 public:
  static constexpr int64_t kLanes = hn::MaxLanes(D16());

  HWY_INLINE Sums() { clear(std::make_index_sequence<R * C>()); }
  /// Add kLanes products to each sum.
  HWY_INLINE void add(const int8_t* x, int64_t x_pitch, const int8_t* w, int64_t w_pitch) {
    V16 rows[R], columns[C];
    load(rows, x, x_pitch, std::make_index_sequence<R>());
    load(columns, w, w_pitch, std::make_index_sequence<C>());
    multiply(rows, columns, std::make_index_sequence<R * C>());
  }
  HWY_INLINE void store(int32_t* sums, int64_t stride) const {
    store(sums, stride, std::make_index_sequence<R * C>());
  }

 private:
  template <size_t... I>
  HWY_INLINE void clear(std::index_sequence<I...>) {
    ((even_[I] = odd_[I] = hn::Zero(D32())), ...);
  }
  template <size_t... I>
  static HWY_INLINE void load(V16* to, const int8_t* from, int64_t pitch,
                              std::index_sequence<I...>) {
    ((to[I] = hn::PromoteTo(D16(), hn::LoadU(D8(), from + static_cast<int64_t>(I) * pitch))), ...);
  }
  template <size_t... I>
  HWY_INLINE void multiply(const V16* rows, const V16* columns, std::index_sequence<I...>) {
    ((even_[I] =
          hn::ReorderWidenMulAccumulate(D32(), rows[I / C], columns[I % C], even_[I], odd_[I])),
     ...);
  }
  template <size_t... I>
  HWY_INLINE void store(int32_t* sums, int64_t stride, std::index_sequence<I...>) const {
    ((sums[static_cast<int64_t>(I / C) * stride + static_cast<int64_t>(I % C)] =
          hn::GetLane(hn::SumOfLanes(D32(), hn::Add(even_[I], odd_[I])))),
     ...);
  }

  V32 even_[R * C], odd_[R * C];
};

template <size_t R, size_t C>
void tile(const Int8Block& b, int64_t m, int64_t n, int32_t* sums, int64_t stride) {
  using Tile = Sums<R, C>;
  const int8_t *x = b.x + m * b.pitch, *w = b.w + n * b.K;
  Tile tile;
  int64_t k = 0;
  for (; k + Tile::kLanes <= b.K; k += Tile::kLanes) tile.add(x + k, b.pitch, w + k, b.K);
  if (k < b.K) {  // memory past w's last row must not be read
    alignas(64) int8_t rest[C * static_cast<size_t>(Tile::kLanes)] = {};
    for (size_t c = 0; c < C; ++c) {
      std::copy(w + static_cast<int64_t>(c) * b.K + k, w + static_cast<int64_t>(c + 1) * b.K,
                rest + c * static_cast<size_t>(Tile::kLanes));
    }
    tile.add(x + k, b.pitch, rest, Tile::kLanes);
  }
  tile.store(sums + m * stride + n, stride);
}

template <size_t C>
void column_tiles(const Int8Block& b, int64_t n, int32_t* sums, int64_t stride) {
  int64_t m = 0;
  for (; m + 2 <= b.rows; m += 2) tile<2, C>(b, m, n, sums, stride);
  if (m < b.rows) tile<1, C>(b, m, n, sums, stride);
}

void products(const Int8Block& b, int32_t* sums, int64_t stride) {
  int64_t n = 0;
  for (; n + 4 <= b.columns; n += 4) column_tiles<4>(b, n, sums, stride);
  for (; n < b.columns; ++n) column_tiles<1>(b, n, sums, stride);
}

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(quantize);
HWY_EXPORT(products);

Int8Row quantize_row(int64_t K, int8_t* q, int64_t pitch, const float* x) {
  return HWY_DYNAMIC_DISPATCH(quantize)(K, q, pitch, x);
}
void int8_products(const Int8Block& block, int32_t* sums, int64_t stride) {
  HWY_DYNAMIC_DISPATCH(products)(block, sums, stride);
}

}  // namespace ambit::cpu
#endif
