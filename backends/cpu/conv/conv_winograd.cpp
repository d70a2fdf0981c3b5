#include "conv_winograd.h"

#include "backends/cpu/runtime/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/conv/conv_winograd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <ambit/detail/packed_constants.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "backends/cpu/runtime/scratch.h"
#include "winograd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

using namespace winograd;

// Tiles whose products with a block of filters fit in the cache; a multiple of the row count.
constexpr int64_t kGroup = 28 / kMostRows * kMostRows;
// Floats of tiles that fit in the cache together with filters.
constexpr int64_t kCached = int64_t{1} << 16;
// Number of tiles whose products with a filter take as long as transforming the filter once.
constexpr int64_t kFilterCost = 16;

class Convolution {
 public:
  /// Functions for one window size: number of points and the transforms.
  struct Maps {
    int64_t points;
    Images::Write inputs;
    void (Convolution::*filters)(int64_t, float*) const;
    bool (Convolution::*results)(int64_t, int64_t, int64_t, const float*) const;
  };
  template <class Taps>
  static Maps maps() {
    return {Points<Taps>::kCount, &Images::write_values<Points<Taps>, Points<Taps>>,
            &Convolution::transform_filters<Taps>, &Convolution::write_tiles<Taps>};
  }

  Convolution(const Maps& maps, const WinogradSizes& g, float* y, const float* x, const float* w,
              bool is_input_grad, const float* b)
      : maps_(maps),
        g_(g),
        y_(y),
        x_{winograd_images(g, x)},
        w_(w),
        is_input_grad_(is_input_grad),
        b_(b),
        tiles_(g),
        planes_(tiles_.planes()),
        inputs_(planes_ + g.T - 1),
        pitch_(inputs_ * g.C),
        filters_pitch_(g.T * g.C * kBlock + kGap) {}

  bool run();

 private:
  int64_t filters_size() const { return maps_.points * filters_pitch_; }
  /// Return memory for all transformed filters of constant weights.
  PackedConstants::Form kept_filters(size_t size) const {
    constexpr int64_t kWinograd = 1;
    return PackedConstants::find(
        w_, {kWinograd, maps_.points, is_input_grad_, g_.K, g_.C, g_.T, g_.R, g_.S}, size);
  }
  /// Return the distance between points for `count` tiles.
  int64_t stride(int64_t count) const { return count * pitch_ + kGap; }
  /// Transform a block of filters, [T][C][kBlock], to u [points][filters_pitch].
  template <class Taps>
  void transform_filters(int64_t block, float* u) const;
  /// Multiply v [points][count][pitch] of tiles by u, using m [points][rows at once][kBlock].
  /// Return true if all results are finite.
  bool convolve(int64_t block, int64_t first, int64_t count, const float* v, const float* u,
                float* m) const;
  template <class Taps>
  bool write_tiles(int64_t block, int64_t first, int64_t count, const float* m) const;

  const Maps maps_;
  const WinogradSizes& g_;
  float* const y_;
  const Images x_;
  const float* const w_;
  const bool is_input_grad_;
  const float* const b_;
  const WinogradTiles tiles_;
  const int64_t planes_, inputs_;        // of a tile: planes of y and of x
  const int64_t pitch_, filters_pitch_;  // between tiles; between points of filters
};

template <class Taps>
void Convolution::transform_filters(int64_t block, float* u) const {
  constexpr int64_t kWindow = Taps::kCount;
  const int64_t first = block * kBlock, filters = std::min(kBlock, g_.K - first),
                all = g_.T * kWindow;
  const int64_t filter = is_input_grad_ ? all : g_.C * all,
                channel = is_input_grad_ ? g_.K * all : all;
  HWY_ALIGN float taps[kWindow][kBlock] = {};
  for (int64_t i = 0; i < g_.T * g_.C; ++i) {
    const int64_t plane = is_input_grad_ ? g_.T - 1 - i / g_.C : i / g_.C;
    for (int64_t k = 0; k < filters; ++k) {
      const float* from = w_ + (first + k) * filter + i % g_.C * channel + plane * kWindow;
      for (int64_t t = 0; t < kWindow; ++t) taps[is_input_grad_ ? kWindow - 1 - t : t][k] = from[t];
    }
    for (int64_t k = 0; k < kBlock; k += kLanes) {
      const auto at = [&](size_t row, size_t column)
                          HWY_ATTR { return hn::Load(D(), &taps[row * Taps::kWidth + column][k]); };
      write_values<Points<Taps>, Taps>(at, u + i * kBlock + k, filters_pitch_);
    }
  }
}

template <class Taps>
bool Convolution::write_tiles(int64_t block, int64_t first, int64_t count, const float* m) const {
  using Outputs = winograd::Outputs<Taps>;
  Finite finite;
  const int64_t split = g_.y_split, height = split > 1 ? g_.height : g_.P,
                width = split > 1 ? g_.width : g_.Q, filters = g_.K / (split * split),
                before_top = split > 1 ? g_.before_top : 0,
                before_left = split > 1 ? g_.before_left : 0;
  for (int64_t k = block * kBlock; k < std::min(g_.K, (block + 1) * kBlock); k += kLanes) {
    const int64_t image = k / filters, filter = k % filters;
    const V bias = b_ ? hn::LoadU(D(), b_ + filter) : hn::Zero(D());
    for (int64_t t = 0; t < count * planes_; ++t) {
      const auto tile = tiles_[first + t / planes_];
      const int64_t plane = tile.plane + t % planes_;
      if (plane >= g_.O) continue;
      V sums[Outputs::kHeight][Outputs::kWidth];
      read_sums<Points<Taps>>(m + t * kBlock + k % kBlock, count * planes_ * kBlock, sums);
      const int64_t row = tile.row * split + image / split - before_top,
                    column = tile.column * split + image % split - before_left;
      const int64_t rows = std::min<int64_t>(Outputs::kHeight, ceil_div(height - row, split)),
                    columns = std::min<int64_t>(Outputs::kWidth, ceil_div(width - column, split));
      for (int64_t i = row < 0; i < rows; ++i) {
        const int64_t y_row = (tile.image * g_.O + plane) * height + row + i * split;
        float* const to = y_ + (y_row * width + column) * filters + filter;
        for (int64_t j = column < 0; j < columns; ++j) {
          const V sum = hn::Add(sums[i][j], bias);
          finite.add(sum);
          hn::StoreU(sum, D(), to + j * split * filters);
        }
      }
    }
  }
  return finite.all();
}

bool Convolution::convolve(int64_t block, int64_t first, int64_t count, const float* v,
                           const float* u, float* m) const {
  bool finite = true;
  // Rows of a product are consecutive planes or, if there is only one plane, tiles.
  const bool has_planes = planes_ > 1;
  const int64_t groups = ceil_div(count, std::max<int64_t>(kGroup / planes_, 1)),
                row = has_planes ? g_.C : pitch_;
  for (int64_t i = 0, begin = 0; i < groups; ++i) {
    const int64_t tiles = ceil_div(count - begin, groups - i), rows = has_planes ? planes_ : tiles;
    for (int64_t point = 0; point < maps_.points; ++point) {
      const float* const filters = u + point * filters_pitch_;
      for (int64_t t = 0; t < (has_planes ? tiles : 1); ++t) {
        const Matrix<const float> a{v + point * stride(count) + (begin + t) * pitch_, row, 1};
        multiply(rows, {g_.T * g_.C}, m + (point * tiles * planes_ + t * rows) * kBlock, kBlock, a,
                 filters, kBlock, false);
      }
    }
    finite &= (this->*maps_.results)(block, first + begin, tiles, m);
    begin += tiles;
  }
  return finite;
}

bool Convolution::run() {
  // A part is a number of tiles whose values fit in a core's cache. The more filters must be read
  // for a part, the larger it is. If there are few tiles, each part covers some of the filters.
  const int64_t filters = maps_.points * g_.T * g_.C * g_.K,
                rows = std::clamp<int64_t>(filters >> 15, 14, 64),
                at_once = std::max(kCached / (maps_.points * pitch_), ceil_div(rows, planes_));
  const int64_t chunks = ceil_div(tiles_.count(), at_once), blocks = ceil_div(g_.K, kBlock);
  const int64_t shares = std::clamp<int64_t>(8 / chunks, 1, blocks);
  const int64_t most = ceil_div(tiles_.count(), chunks);
  const PackedConstants::Form kept = kept_filters(bytes(blocks * filters_size()));
  const bool once = chunks == 1 && !kept.data;  // each block of filters is used once
  const Scratch made_filters(once || kept.data ? 0 : bytes(blocks * filters_size()));
  float* const all_filters =
      kept.data ? static_cast<float*>(kept.data) : made_filters.data<float>();
  if (!once && (!kept.data || kept.is_new)) {
    parallel_for(blocks, grain_for(filters_size()), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        (this->*maps_.filters)(i, all_filters + i * filters_size());
      }
    });
  }
  std::atomic<bool> finite = true;
  const int64_t work = maps_.points * (most * planes_ + (once ? kFilterCost : 0)) * g_.T * g_.C *
                       ceil_div(g_.K, shares);
  parallel_for(chunks * shares, grain_for_products(work), [&](int64_t begin, int64_t end) {
    const Scratch values(bytes(maps_.points * stride(most))),
        products(
            bytes(maps_.points * std::min(most * planes_, std::max(kGroup, planes_)) * kBlock)),
        own_filters(once ? bytes(filters_size()) : 0);
    float *const v = values.data<float>(), *const own = own_filters.data<float>();
    for (int64_t i = begin; i < end; ++i) {
      const int64_t chunk = i / shares, share = i % shares;
      const int64_t first = tiles_.count() * chunk / chunks,
                    count = tiles_.count() * (chunk + 1) / chunks - first;
      if (i == begin || share == 0)
        (x_.*maps_.inputs)(tiles_, first, count, inputs_, v, pitch_, stride(count));
      for (int64_t k = blocks * share / shares; k < blocks * (share + 1) / shares; ++k) {
        if (once) (this->*maps_.filters)(k, own);
        const float* u = once ? own : all_filters + k * filters_size();
        if (!convolve(k, first, count, v, u, products.data<float>())) finite = false;
      }
    }
  });
  return finite;
}

bool has_windows(int64_t rows) { return rows < 3 ? kHasAll : kLanes > 1; }

bool convolve(const WinogradSizes& g, float* y, const float* x, const float* w, bool is_input_grad,
              const float* b) {
  if constexpr (kLanes == 1) {
    return false;  // not instantiated: has_winograd_conv() returns false
  } else {
    const auto run = [&](const Convolution::Maps& maps) {
      return Convolution(maps, g, y, x, w, is_input_grad, b).run();
    };
    if constexpr (kHasAll) {
      if (g.R == 1) return run(Convolution::maps<Window<1, 5>>());
      if (g.R == 2) return run(Convolution::maps<Window<2, 2>>());
    }
    return run(g.R == 3 ? Convolution::maps<Window<3, 3>>() : Convolution::maps<Window<5, 5>>());
  }
}

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(has_windows);
HWY_EXPORT(convolve);

int64_t least_winograd_side() { return HWY_DYNAMIC_DISPATCH(has_windows)(2) ? 2 : 3; }

bool has_winograd_conv(const WinogradSizes& g) {
  constexpr std::array<int64_t, 3> kOnes{1, 1, 1};
  const bool splits = g.x_split > 1 || g.y_split > 1;
  const bool has_window = splits || (g.R == 1 ? g.S == 5 : g.R == g.S && (g.R == 3 || g.R == 5));
  const bool is_plain = g.groups == 1 && g.stride == kOnes && g.dilation == kOnes;
  const bool fills_vectors = g.C % 16 == 0 && g.K % 16 == 0 && std::min(g.C, g.K) * g.T >= 32;
  if (!has_window || !is_plain || !fills_vectors) return false;
  // Transforming the filters costs as much as some tiles do, and tiles extend beyond images:
  // Winograd is faster if it saves at least this fraction of the products (measured).
  const WinogradTiles tiles(g);
  const int64_t count = tiles.count() * tiles.planes(), side = g.S + winograd_outputs(g.S) - 1,
                points = g.R == 1 ? side : side * side, outputs = g.N * g.y_plane();
  const bool is_less = splits     ? outputs * g.window[0] * g.window[1] >= 3 * (count + 64) * points
                       : g.R == 5 ? outputs * g.R * g.S >= 4 * (count + 8) * points
                                  : outputs * g.R * g.S >= 2 * count * points;
  return count >= 16 && is_less && HWY_DYNAMIC_DISPATCH(has_windows)(g.R);
}

WinogradImages winograd_images(const WinogradSizes& g, const float* x) {
  const bool splits = g.x_split > 1;
  return {.data = x,
          .depth = g.D,
          .height = splits ? g.height : g.H,
          .width = splits ? g.width : g.W,
          .channels = g.C / (g.x_split * g.x_split),
          .padding_front = g.padding[0],
          .padding_top = g.padding[1],
          .padding_left = g.padding[2],
          .split = g.x_split,
          .before_top = splits ? g.before_top : 0,
          .before_left = splits ? g.before_left : 0};
}

void WinogradImages::find(const WinogradTiles::Tile& tile, int64_t image, const float* zeros,
                          int64_t rows, int64_t columns, const float** from) const {
  const int64_t d = tile.plane - padding_front + image / (split * split);
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t h = (tile.row - padding_top + i) * split + image / split % split - before_top;
    const bool inside = d >= 0 && d < depth && h >= 0 && h < height;
    const int64_t row = ((tile.image * depth + d) * height + h) * width;
    for (int64_t j = 0; j < columns; ++j, ++from) {
      const int64_t w = (tile.column - padding_left + j) * split + image % split - before_left;
      *from = inside && w >= 0 && w < width ? data + (row + w) * channels : zeros;
    }
  }
}

bool winograd_conv(const WinogradSizes& g, float* y, const float* x, const float* w,
                   bool is_input_grad, const float* b) {
  return HWY_DYNAMIC_DISPATCH(convolve)(g, y, x, w, is_input_grad, b);
}

}  // namespace ambit::cpu
#endif
