// Random fills with the numbers of philox.h, the same on every backend. Many blocks are generated
// together, as the ten rounds of one block are dependent, then mapped by vectorised loops.
#include "backends/cpu/runtime/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise/random.cpp"
#include <ambit/backend/philox.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "backends/cpu/elementwise/half_loops.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/runtime/parallel.h"
#include "math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

constexpr int64_t kBatch = 64;  // blocks generated together: a few KB, which fit in the L1 cache

/// words [4 * kBatch] = the blocks first, first + 1, ... of the random stream.
void generate(uint64_t seed, uint64_t first, uint32_t* words) {
  alignas(64) uint32_t c0[kBatch], c1[kBatch], c2[kBatch], c3[kBatch];
  for (int64_t b = 0; b < kBatch; ++b) {
    const uint64_t index = first + static_cast<uint64_t>(b);
    c0[b] = static_cast<uint32_t>(index);
    c1[b] = static_cast<uint32_t>(index >> 32);
    c2[b] = c3[b] = 0;
  }
  auto key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
  for (int i = 0; i < philox::kRounds; ++i) {
#pragma omp simd
    for (int64_t b = 0; b < kBatch; ++b) {
      philox::round(c0[b], c1[b], c2[b], c3[b], key0, key1);
    }
    key0 += philox::kKeyStep0;
    key1 += philox::kKeyStep1;
  }
  for (int64_t b = 0; b < kBatch; ++b) {
    words[4 * b] = c0[b];
    words[4 * b + 1] = c1[b];
    words[4 * b + 2] = c2[b];
    words[4 * b + 3] = c3[b];
  }
}

/// philox::to_normal (Box-Muller) of pairs of words. z [2 * kBatch].
void to_normals(const uint32_t* words, double* z) {
  alignas(64) double radius[2 * kBatch], angle[2 * kBatch];
#pragma omp simd
  for (int64_t i = 0; i < 2 * kBatch; ++i) {
    radius[i] = (static_cast<double>(words[2 * i]) + 1) * 0x1p-32;
    angle[i] = static_cast<double>(words[2 * i + 1]) * 0x1p-32;
  }
  const hn::ScalableTag<double> d;
  for (int64_t i = 0; i < 2 * kBatch; i += static_cast<int64_t>(hn::Lanes(d))) {
    const auto r = hn::Sqrt(hn::Mul(constant(d, -2), Log()(d, hn::Load(d, radius + i))));
    const auto a = hn::Mul(constant(d, 6.283185307179586), hn::Load(d, angle + i));
    hn::Store(hn::Mul(r, Cos()(d, a)), d, z + i);
  }
}

/// y [elements_per_block * kBatch] = the numbers of one batch.
template <class T>
void map_words(const RandomParams& p, const uint32_t* words, T* y) {
  const auto lanes = static_cast<int64_t>(philox::elements_per_block<T>(p.kind));
  if (p.kind == RandomParams::Kind::normal) {
    alignas(64) double z[2 * kBatch];
    to_normals(words, z);
#pragma omp simd
    for (int64_t i = 0; i < 2 * kBatch; ++i) y[i] = static_cast<T>(p.low + p.high * z[i]);
  } else if (std::is_same_v<T, float> && p.kind == RandomParams::Kind::uniform) {
    const philox::UniformFloat uniform(static_cast<float>(p.low), static_cast<float>(p.high));
#pragma omp simd
    for (int64_t i = 0; i < 4 * kBatch; ++i) y[i] = static_cast<T>(uniform(words[i]));
  } else if (p.kind == RandomParams::Kind::bernoulli) {
#pragma omp simd
    for (int64_t i = 0; i < 4 * kBatch; ++i) {
      y[i] = static_cast<T>(philox::to_unit(words[i]) < p.low);
    }
  } else {
    for (int64_t b = 0; b < kBatch; ++b) {
      philox::Block block;
      std::memcpy(block.word, words + 4 * b, sizeof block.word);
      for (int64_t i = 0; i < lanes; ++i) {
        y[b * lanes + i] = philox::from_block<T>(p, block, static_cast<uint64_t>(i));
      }
    }
  }
}

/// y [n] = the numbers of a fill from block `first` on; float16 and bfloat16 are rounded from
/// float32.
template <class T>
void fill(const RandomParams& p, int64_t first, T* y, int64_t n) {
  using Wide = std::conditional_t<ReducedFloat<T>, float, T>;
  const UnaryLoop downcast = ReducedFloat<T> ? downcast_loop(dtype_of<T>) : nullptr;
  alignas(64) uint32_t words[4 * kBatch];
  const auto batch = static_cast<int64_t>(philox::elements_per_block<Wide>(p.kind)) * kBatch;
  for (; n > 0; first += kBatch, y += batch, n -= batch) {
    generate(p.seed, p.offset + static_cast<uint64_t>(first), words);
    if constexpr (!ReducedFloat<T>) {
      if (n >= batch) {
        map_words(p, words, y);
        continue;
      }
    }
    alignas(64) Wide numbers[4 * kBatch];
    map_words(p, words, numbers);
    const int64_t count = std::min(n, batch);
    if constexpr (ReducedFloat<T>) {
      downcast(count, y, numbers);
    } else {
      std::memcpy(y, numbers, static_cast<size_t>(count) * sizeof(T));
    }
  }
}

void fill_any(const RandomParams& p, DType dtype, int64_t first, void* y, int64_t n) {
  visit<dtypes::kEvery>(dtype, [&]<class T>() { fill(p, first, static_cast<T*>(y), n); });
}

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {
HWY_EXPORT(fill_any);

void random(Tensor& y, const RandomParams& p) {
  const auto fill = HWY_DYNAMIC_DISPATCH(fill_any);
  const size_t size = element_size(y.dtype());
  const int64_t lanes = visit<dtypes::kEvery>(y.dtype(), [&]<class T>() {
    using Wide = std::conditional_t<ReducedFloat<T>, float, T>;
    return static_cast<int64_t>(philox::elements_per_block<Wide>(p.kind));
  });
  const int64_t n = y.numel(), blocks = (n + lanes - 1) / lanes;
  parallel_for(blocks, kGrain / 32, [&](int64_t begin, int64_t end) {
    const int64_t first = begin * lanes;
    fill(p, y.dtype(), begin, static_cast<char*>(y.data_ptr()) + first * static_cast<int64_t>(size),
         std::min(end * lanes, n) - first);
  });
}

}  // namespace ambit::cpu
#endif
