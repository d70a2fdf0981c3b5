// A CRC is the remainder of the bytes as a polynomial over GF(2). A block can be folded into a
// later one: multiply it by x to the power of the distance (reduced by the CRC's polynomial), then
// XOR. Folding reduces all blocks to 16 bytes with the same CRC.
// Source: Gopal et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ
// Instruction", Intel, 2009.
#include "crc.h"

#include <libdeflate.h>

#if defined(__x86_64__)
#include <immintrin.h>

#include <cstdlib>
#include <string_view>
#endif

namespace ambit {
#if defined(__x86_64__)
namespace {

// Return x^n modulo the CRC-32 polynomial, bit-reflected (lowest power in the highest bit).
constexpr int64_t power(int n) {
  uint32_t r = 1U << 31;
  for (; n > 0; --n) r = r >> 1 ^ (r & 1 ? 0xEDB88320U : 0);
  return int64_t{r} << 1;
}

// Factors that fold the low and the high half of 16 bytes forward by `bits`.
constexpr int64_t low(int bits) { return power(bits + 32); }
constexpr int64_t high(int bits) { return power(bits - 32); }
static_assert(low(512) == 0x154442bd4 && high(512) == 0x1c6e41596, "as in the source");

#define AMBIT_CRC_TARGET __attribute__((target("avx512f,vpclmulqdq,pclmul")))

AMBIT_CRC_TARGET inline __m512i fold(__m512i x, __m512i powers, __m512i next) {
  return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(x, powers, 0x00),
                                   _mm512_clmulepi64_epi128(x, powers, 0x11), next,
                                   0x96 /* xor of all three */);
}

AMBIT_CRC_TARGET inline __m512i line(const char* at) { return _mm512_loadu_si512(at); }

AMBIT_CRC_TARGET inline __m512i powers(int bits) {
  const int64_t h = high(bits), l = low(bits);
  return _mm512_set_epi64(h, l, h, l, h, l, h, l);
}

// Return the CRC of the first `done` bytes: the largest multiple of 256 in `count` >= 256.
AMBIT_CRC_TARGET uint32_t crc_of_blocks(uint32_t crc, const char* data, size_t count,
                                        size_t& done) {
  constexpr int kLine = 64, kStep = 4 * kLine;
  const __m512i step = powers(8 * kStep);
  __m512i a = _mm512_xor_si512(
      line(data), _mm512_set_epi64(0, 0, 0, 0, 0, 0, 0, int64_t{static_cast<uint32_t>(~crc)}));
  __m512i b = line(data + kLine), c = line(data + 2 * kLine), d = line(data + 3 * kLine);
  for (done = kStep; count - done >= kStep; done += kStep) {
    a = fold(a, step, line(data + done));
    b = fold(b, step, line(data + done + kLine));
    c = fold(c, step, line(data + done + 2 * kLine));
    d = fold(d, step, line(data + done + 3 * kLine));
  }
  const __m512i next = powers(8 * kLine);
  a = fold(fold(fold(a, next, b), next, c), next, d);
  alignas(kLine) __m128i parts[4];
  _mm512_store_si512(parts, a);
  const __m128i one_line = _mm_set_epi64x(high(128), low(128));
  for (int i = 1; i < 4; ++i) {
    const __m128i moved = _mm_xor_si128(_mm_clmulepi64_si128(parts[i - 1], one_line, 0x00),
                                        _mm_clmulepi64_si128(parts[i - 1], one_line, 0x11));
    parts[i] = _mm_xor_si128(parts[i], moved);
  }
  // The initial value is folded in already; ~0U makes libdeflate start from 0.
  return libdeflate_crc32(~0U, &parts[3], sizeof(parts[3]));
}

// Respect AMBIT_CPU_ISA as the CPU's kernels do; they validate its value.
bool may_use_newer_avx512() {
  const char* value = std::getenv("AMBIT_CPU_ISA");
  const std::string_view limit = value ? value : "";
  return limit.empty() || limit == "avx512_bf16";
}

}  // namespace
#endif

uint32_t zip_crc(uint32_t crc, const void* data, size_t count) {
  const auto* next = static_cast<const char*>(data);
#if defined(__x86_64__)
  static const bool has_it = __builtin_cpu_supports("avx512f") > 0 &&
                             __builtin_cpu_supports("vpclmulqdq") > 0 && may_use_newer_avx512();
  if (has_it && count >= 256) {
    size_t done = 0;
    crc = crc_of_blocks(crc, next, count, done);
    next += done;
    count -= done;
  }
#endif
  return libdeflate_crc32(crc, next, count);
}

}  // namespace ambit
