// int8 products by AVX512_VNNI, which multiplies unsigned by signed bytes: compute (w + 128) x and
// subtract 128 times the sum of x. Sums of four products are int32; the intermediate sum may wrap,
// and the subtraction wraps it back. Highway 1.0 has no such function, hence intrinsics.
#include "int8_products.h"

#include "backends/cpu/runtime/instruction_sets.h"

#if defined(__x86_64__)
#include <immintrin.h>
// g++ 12 warns of uninitialised values in its own intrinsics (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

namespace ambit::cpu {

#if defined(__x86_64__)
namespace {

#define AMBIT_VNNI __attribute__((target("avx512f,avx512bw,avx512vnni")))

AMBIT_VNNI inline __m256i folded(__m512i v) {
  return _mm256_add_epi32(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
}
/// Return the sums of the elements of four vectors.
AMBIT_VNNI inline __m128i sums_of(__m512i a, __m512i b, __m512i c, __m512i d) {
  const __m256i ab = _mm256_hadd_epi32(folded(a), folded(b));
  const __m256i cd = _mm256_hadd_epi32(folded(c), folded(d));
  const __m256i all = _mm256_hadd_epi32(ab, cd);
  return _mm_add_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
}

/// R x 4 sums; each step adds 64 products to each.
template <int R>
struct Tile {
  __m512i sum[R][4];

  AMBIT_VNNI inline void clear() {
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
      for (int c = 0; c < 4; ++c) sum[r][c] = _mm512_setzero_si512();
    }
  }
  AMBIT_VNNI inline void add(const int8_t* x, int64_t pitch, int c, __m512i column) {
    const __m512i shifted = _mm512_xor_si512(column, _mm512_set1_epi8(-128));
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      sum[r][c] = _mm512_dpbusd_epi32(sum[r][c], shifted, _mm512_loadu_si512(x + r * pitch));
    }
  }
};

/// Compute R x 4 sums starting at row m and column n.
template <int R>
AMBIT_VNNI void tile(const Int8Block& b, int64_t m, int64_t n, int32_t* sums, int64_t stride) {
  const int8_t *x = b.x + m * b.pitch, *w = b.w + n * b.K;
  Tile<R> t;
  t.clear();
  int64_t k = 0;
  for (; k + kInt8Pitch <= b.K; k += kInt8Pitch) {
#pragma GCC unroll 4
    for (int c = 0; c < 4; ++c) {
      // Hardware prefetching stops at page ends; a row may fill a page: prefetch 4 rows ahead.
      _mm_prefetch(reinterpret_cast<const char*>(w + (c + 4) * b.K + k), _MM_HINT_T0);
      t.add(x + k, b.pitch, c, _mm512_loadu_si512(w + c * b.K + k));
    }
  }
  if (k < b.K) {
    const __mmask64 rest = (__mmask64{1} << (b.K - k)) - 1;
#pragma GCC unroll 4
    for (int c = 0; c < 4; ++c) {
      t.add(x + k, b.pitch, c, _mm512_maskz_loadu_epi8(rest, w + c * b.K + k));
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) {
    const __m128i taken = _mm_set1_epi32(128 * b.totals[m + r]);
    const __m128i four = sums_of(t.sum[r][0], t.sum[r][1], t.sum[r][2], t.sum[r][3]);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(sums + (m + r) * stride + n),
                     _mm_sub_epi32(four, taken));
  }
}

void four_columns(const Int8Block& b, int64_t n, int32_t* sums, int64_t stride) {
  int64_t m = 0;
  for (; m + 4 <= b.rows; m += 4) tile<4>(b, m, n, sums, stride);
  if (m + 2 <= b.rows) tile<2>(b, m, n, sums, stride), m += 2;
  if (m < b.rows) tile<1>(b, m, n, sums, stride);
}

void products(const Int8Block& b, int32_t* sums, int64_t stride) {
  int64_t n = 0;
  for (; n + 4 <= b.columns; n += 4) four_columns(b, n, sums, stride);
  if (n == b.columns) return;
  Int8Block rest = b;  // up to three columns
  rest.columns = b.columns - n;
  rest.w = b.w + n * b.K;
  int8_products(rest, sums + n, stride);
}

}  // namespace

Int8Products* int8_products_vnni() {
  static const bool has_it = __builtin_cpu_supports("avx512vnni") > 0 &&
                             instruction_set_limit() >= InstructionSet::avx512_bf16;
  return has_it ? products : nullptr;
}
#else
Int8Products* int8_products_vnni() { return nullptr; }
#endif

}  // namespace ambit::cpu
