#include "conv_products.h"

#include <algorithm>
#include <cstdlib>

#include "backends/cpu/matmul/product.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/scratch.h"

namespace ambit::cpu {
namespace {

/// Elements of the columns of one block, 512 KiB, and the minimal and maximal pixels of a block:
/// each block packs all weights.
constexpr int64_t kBlock = int64_t{1} << 17, kFewest = 192, kMost = 1536;

int64_t window(const ConvSizes& g) { return g.T * g.R * g.S; }
int64_t pixels_per_block(const ConvSizes& g) {
  return std::clamp(kBlock / g.taps(), kFewest, kMost);
}

/// Return true if the columns of an image are the image.
bool is_pointwise(const ConvSizes& g) {
  constexpr std::array<int64_t, 3> kOnes{1, 1, 1}, kNone{};
  return window(g) == 1 && g.stride == kOnes && g.padding == kNone;
}

Scratch floats(int64_t count) { return Scratch(static_cast<size_t>(count) * sizeof(float)); }

/// Call f(position in the columns, offset in x or -1 for padding, length) for the segments that
/// make up the columns of pixels [first, past) of y: [past - first][T][R][S][C].
template <class F>
void for_segments(const ConvSizes& g, int64_t first, int64_t past, const F& f) {
  int64_t to = 0;
  const auto row = [&](int64_t from,
                       int64_t w) {  // a row of a window, at row `from` and column `w` of x
    if (from < 0) return f(to, -1, g.S * g.C);
    if (g.dilation[2] == 1) {  // adjacent taps
      const int64_t begin = std::clamp<int64_t>(-w, 0, g.S);
      const int64_t end = std::clamp(g.W - w, begin, g.S);
      if (begin > 0) f(to, -1, begin * g.C);
      if (end > begin) f(to + begin * g.C, (from + w + begin) * g.C, (end - begin) * g.C);
      if (end < g.S) f(to + end * g.C, -1, (g.S - end) * g.C);
      return;
    }
    for (int64_t s = 0; s < g.S; ++s, w += g.dilation[2]) {
      f(to + s * g.C, w >= 0 && w < g.W ? (from + w) * g.C : -1, g.C);
    }
  };
  for (int64_t i = first; i < past; ++i) {
    const int64_t q = i % g.Q, p = i / g.Q % g.P, o = i / g.Q / g.P % g.O, n = i / g.y_plane();
    for (int64_t t = 0; t < g.T; ++t) {
      const int64_t d = o * g.stride[0] - g.padding[0] + t * g.dilation[0];
      for (int64_t r = 0; r < g.R; ++r, to += g.S * g.C) {
        const int64_t h = p * g.stride[1] - g.padding[1] + r * g.dilation[1];
        const bool exists = d >= 0 && d < g.D && h >= 0 && h < g.H;
        row(exists ? ((n * g.D + d) * g.H + h) * g.W : -1, q * g.stride[2] - g.padding[2]);
      }
    }
  }
}

void gather(const ConvSizes& g, float* columns, const float* x, int64_t first, int64_t past) {
  for_segments(g, first, past, [&](int64_t to, int64_t from, int64_t length) {
    if (from < 0) {
      std::fill_n(columns + to, length, 0.f);
    } else {
      std::copy_n(x + from, length, columns + to);
    }
  });
}

void scatter_add(const ConvSizes& g, float* dx, const float* columns, int64_t first, int64_t past) {
  for_segments(g, first, past, [&](int64_t from, int64_t to, int64_t length) {
    if (to < 0) return;
    float* sums = dx + to;
    const float* more = columns + from;
#pragma omp simd
    for (int64_t i = 0; i < length; ++i) sums[i] += more[i];
  });
}

/// to [K][T,R,S][C] = w [K][C][T,R,S].
void channels_innermost(const ConvSizes& g, float* to, const float* w) {
  parallel_for(g.K, grain_for(g.taps()), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      for (int64_t t = 0; t < window(g); ++t) {
        const float* from = w + k * g.taps() + t;
        float* row = to + k * g.taps() + t * g.C;
        for (int64_t c = 0; c < g.C; ++c) row[c] = from[c * window(g)];
      }
    }
  });
}

/// The weights [K][T,R,S][C].
class Weights {
 public:
  Weights(const ConvSizes& g, const float* w)
      : copy_(floats(window(g) == 1 ? 0 : g.K * g.taps())), data_(w) {
    if (window(g) == 1) return;
    channels_innermost(g, copy_.data<float>(), w);
    data_ = copy_.data<float>();
  }
  const float* data() const { return data_; }

 private:
  Scratch copy_;
  const float* data_;
};

/// The columns of a block of pixels; not copied if they are the image.
class Columns {
 public:
  Columns(const ConvSizes& g, const float* x, int64_t most)
      : g_(g), x_(x), room_(floats(is_pointwise(g) ? 0 : most * g.taps())) {}
  const float* of(int64_t first, int64_t past) const {
    if (is_pointwise(g_)) return x_ + first * g_.C;
    gather(g_, room_.data<float>(), x_, first, past);
    return room_.data<float>();
  }

 private:
  const ConvSizes& g_;
  const float* x_;
  Scratch room_;
};

/// Call f(first, past) for the blocks of pixels in [first, past).
template <class F>
void for_blocks(const ConvSizes& g, int64_t first, int64_t past, const F& f) {
  for (const int64_t each = pixels_per_block(g); first < past; first += each) {
    f(first, std::min(past, first + each));
  }
}

/// Return the number of partial sums of the weight gradient; each needs memory for all weights.
int64_t count_sums(const ConvSizes& g, int64_t blocks) {
  constexpr int64_t kMostSums = 8;
  const int64_t images = g.N * (g.C * g.x_plane() + g.K * g.y_plane()), weights = g.K * g.taps();
  const int64_t most = std::min({kMostSums, blocks, g.work() / kProductGrain});
  return std::clamp<int64_t>(images / weights, 1, std::max<int64_t>(1, most));
}

}  // namespace

bool prefers_products() {
#if defined(__aarch64__)
  return true;
#else
  static const bool asked = std::getenv("AMBIT_CONV_BY_PRODUCTS") != nullptr;
  return asked;
#endif
}

void products_conv(const ConvSizes& g, float* y, const float* x, const float* w, const float* b) {
  const Weights weights(g, w);
  const int64_t pixels = g.N * g.y_plane(), each = std::min(pixels, pixels_per_block(g));
  const int64_t blocks = ceil_div(pixels, each);
  // If there is a single block, its product uses all threads.
  parallel_for(blocks, grain_for_products(g.work() / blocks), [&](int64_t begin, int64_t end) {
    const Columns columns(g, x, each);
    for_blocks(g, begin * each, std::min(pixels, end * each), [&](int64_t first, int64_t past) {
      multiply<float>({.M = past - first,
                       .N = g.K,
                       .K = g.taps(),
                       .a = {columns.of(first, past), g.taps(), 1},
                       .b = {weights.data(), 1, g.taps()},
                       .bias = b},
                      y + first * g.K);
    });
  });
}

void products_conv_input_grad(const ConvSizes& g, float* dx, const float* dy, const float* w) {
  const Weights weights(g, w);
  const bool pointwise = is_pointwise(g);
  // Windows of one image overlap, so one thread adds all columns of an image.
  parallel_for(g.N, grain_for_products(g.work() / g.N), [&](int64_t begin, int64_t end) {
    const int64_t most = std::min(pixels_per_block(g), g.y_plane());
    const Scratch room = floats(pointwise ? 0 : most * g.taps());
    const int64_t image = g.C * g.x_plane();
    for (int64_t n = begin; n < end; ++n) {
      if (!pointwise) std::fill_n(dx + n * image, image, 0.f);
      for_blocks(g, n * g.y_plane(), (n + 1) * g.y_plane(), [&](int64_t first, int64_t past) {
        float* const columns = pointwise ? dx + first * g.C : room.data<float>();
        multiply<float>({.M = past - first,
                         .N = g.taps(),
                         .K = g.K,
                         .a = {dy + first * g.K, g.K, 1},
                         .b = {weights.data(), g.taps(), 1}},
                        columns);
        if (!pointwise) scatter_add(g, dx, columns, first, past);
      });
    }
  });
}

void products_conv_weight_grad(const ConvSizes& g, float* dw, const float* dy, const float* x) {
  const int64_t pixels = g.N * g.y_plane(), each = std::min(pixels, pixels_per_block(g));
  const int64_t blocks = ceil_div(pixels, each), parts = count_sums(g, blocks);
  const int64_t size = g.K * g.taps();
  const Scratch room = floats(parts * size);
  float* const sums = room.data<float>();  // [parts][K][T,R,S][C]
  parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
    const Columns columns(g, x, each);
    const Scratch product = floats(size);
    for (int64_t part = begin; part < end; ++part) {
      float* const to = sums + part * size;
      bool is_first = true;
      const int64_t from = blocks * part / parts * each;
      const int64_t until = std::min(pixels, blocks * (part + 1) / parts * each);
      for_blocks(g, from, until, [&](int64_t first, int64_t past) {
        multiply<float>({.M = g.K,
                         .N = g.taps(),
                         .K = past - first,
                         .a = {dy + first * g.K, 1, g.K},
                         .b = {columns.of(first, past), g.taps(), 1}},
                        is_first ? to : product.data<float>());
        if (!is_first) {
          const float* more = product.data<float>();
#pragma omp simd
          for (int64_t i = 0; i < size; ++i) to[i] += more[i];
        }
        is_first = false;
      });
    }
  });
  parallel_for(g.K, grain_for(parts * g.taps()), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      float* const row = sums + k * g.taps();
      for (int64_t part = 1; part < parts; ++part) {
        const float* more = row + part * size;
#pragma omp simd
        for (int64_t i = 0; i < g.taps(); ++i) row[i] += more[i];
      }
      for (int64_t c = 0; c < g.C; ++c) {
        for (int64_t t = 0; t < window(g); ++t) {
          dw[k * g.taps() + c * window(g) + t] = row[t * g.C + c];
        }
      }
    }
  });
}

}  // namespace ambit::cpu
