// The geometry of pooling: a window contains an element if and only if the inverse mapping lists
// the window for the element.
#include "backends/cuda/loops/pool_window.h"

#include <doctest/doctest.h>

using namespace ambit;
using namespace ambit::cuda;

TEST_CASE("windows and the windows of elements are consistent, for every geometry") {
  for (int64_t kernel = 1; kernel <= 3; ++kernel) {
    for (int64_t stride = 1; stride <= 4; ++stride) {
      for (int64_t dilation = 1; dilation <= 3; ++dilation) {
        for (int64_t padding = 0; padding <= kernel / 2; ++padding) {
          PoolParams p;
          p.kernel = {kernel, 1};
          p.stride = {stride, 1};
          p.dilation = {dilation, 1};
          p.padding = {padding, 0};
          constexpr int64_t kSize = 11;
          const int64_t output = p.out_sizes("pool", {1, 1, kSize, 1})[2];
          const PoolAxis axis(p, 0, kSize, output);
          int most = 0;
          for (int64_t i = 0; i < kSize; ++i) {
            int covering = 0;
            for (int64_t o = 0; o < output; ++o) {
              bool covered = false;  // by the definition of a window
              for (int64_t k = 0; k < kernel; ++k) {
                covered = covered || o * stride - padding + k * dilation == i;
              }
              bool visited = false;
              const PoolAxis::Range w = axis.window(o);
              for (int64_t j = w.begin; j < w.end; j += dilation) visited = visited || j == i;
              CHECK(visited == covered);
              const PoolAxis::Range over = axis.windows_over(i);
              if (covered) CHECK((over.begin <= o && o < over.end));
              covering += covered;
            }
            most = std::max(most, covering);
          }
          if (axis.windows_are_apart()) CHECK(most <= 1);
          for (int64_t o = 0; o < output; ++o) CHECK(axis.window(o).begin < axis.window(o).end);
        }
      }
    }
  }
}

TEST_CASE("adaptive windows and the windows of elements are consistent, for every pair of sizes") {
  for (int64_t size = 1; size <= 9; ++size) {
    for (int64_t output = 1; output <= 12; ++output) {
      PoolParams p;
      p.adaptive = true;
      const PoolAxis axis(p, 0, size, output);
      int most = 0;
      for (int64_t i = 0; i < size; ++i) {
        int covering = 0;
        const PoolAxis::Range over = axis.windows_over(i);
        for (int64_t o = 0; o < output; ++o) {
          // floor(o size / output) <= i < ceil((o + 1) size / output)
          const bool covered = o * size < (i + 1) * output && i * output < (o + 1) * size;
          const PoolAxis::Range w = axis.window(o);
          CHECK((w.begin <= i && i < w.end) == covered);
          CHECK((over.begin <= o && o < over.end) == covered);
          covering += covered;
        }
        most = std::max(most, covering);
      }
      CHECK(axis.windows_are_apart() == (most <= 1));
    }
  }
}
