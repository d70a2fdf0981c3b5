// Philox4x32-10 and the conversion of its words to numbers. Header-only, so that every backend,
// including device code, produces the same ones. Block k of a stream is generate(seed, k); element
// i of a fill uses
//   32-bit kinds: word i % 4 of block offset + i / 4
//   64-bit kinds: words 2 (i % 2), 2 (i % 2) + 1 of block offset + i / 2
// A backend calls element<T>(params, i) for each i, or from_block<T> to share a block's cost.
// Source: Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3",
// doi:10.1145/2063384.2063405.
#pragma once

#include <ambit/api.h>
#include <ambit/params.h>

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace ambit::philox {

/// A block of a stream, also a counter: 128 bits.
struct Block {
  uint32_t word[4];  ///< the bits, lowest first
};

/// One round on a counter's words.
AMBIT_HOST_DEVICE inline void round(uint32_t& c0, uint32_t& c1, uint32_t& c2, uint32_t& c3,
                                    uint32_t key0, uint32_t key1) {
  const uint64_t p0 = uint64_t{0xD2511F53u} * c0, p1 = uint64_t{0xCD9E8D57u} * c2;
  c0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ key0;
  c1 = static_cast<uint32_t>(p1);
  c2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ key1;
  c3 = static_cast<uint32_t>(p0);
}
/// Number of rounds of encrypt().
inline constexpr int kRounds = 10;
/// Increments of the key's halves after each round.
/// @{
inline constexpr uint32_t kKeyStep0 = 0x9E3779B9u, kKeyStep1 = 0xBB67AE85u;
/// @}

/// Encrypt a 128-bit counter with a 64-bit key: the paper's bijection, 10 rounds.
AMBIT_HOST_DEVICE inline Block encrypt(Block counter, uint32_t key0, uint32_t key1) {
  uint32_t(&c)[4] = counter.word;
  for (int i = 0; i < kRounds; ++i, key0 += kKeyStep0, key1 += kKeyStep1) {
    round(c[0], c[1], c[2], c[3], key0, key1);
  }
  return counter;
}

/// Return block `index` of the stream of `seed`.
AMBIT_HOST_DEVICE inline Block generate(uint64_t seed, uint64_t index) {
  const Block counter{{static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), 0, 0}};
  return encrypt(counter, static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32));
}

/// Return 64 bits of a block, half 0 or 1.
AMBIT_HOST_DEVICE inline uint64_t bits64(const Block& b, uint64_t half) {
  return b.word[2 * half] | (uint64_t{b.word[2 * half + 1]} << 32);
}
/// Return the 32 bits of element i.
AMBIT_HOST_DEVICE inline uint32_t bits32(uint64_t seed, uint64_t offset, uint64_t i) {
  return generate(seed, offset + i / 4).word[i % 4];
}
/// Return the 64 bits of element i.
AMBIT_HOST_DEVICE inline uint64_t bits64(uint64_t seed, uint64_t offset, uint64_t i) {
  return bits64(generate(seed, offset + i / 2), i % 2);
}

/// Map 32 bits to [0, 1), multiples of 2^-24.
AMBIT_HOST_DEVICE inline float to_unit(uint32_t bits) {
  return static_cast<float>(bits >> 8) * 0x1p-24f;
}
/// Map 64 bits to [0, 1), multiples of 2^-53.
AMBIT_HOST_DEVICE inline double to_unit(uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}
/// Map bits to [low, high). Compilers with and without fused multiply-add give the same bits: in
/// float64 the product of two float32 is exact.
struct UniformFloat {
  double low;    ///< the lower bound
  double range;  ///< high - low
  float top;     ///< the largest float below high, which rounding may reach

  /// Map to [l, h), l < h.
  AMBIT_HOST_DEVICE UniformFloat(float l, float h)
      : low(l), range(h - l), top(std::nextafter(h, l)) {}
  /// Return the number that these bits select.
  AMBIT_HOST_DEVICE float operator()(uint32_t bits) const {
    const double x = low + range * to_unit(bits);
    return x < top ? static_cast<float>(x) : top;
  }
};
/// Map 32 bits to [low, high) in float32.
AMBIT_HOST_DEVICE inline float to_uniform(uint32_t bits, float low, float high) {
  return UniformFloat(low, high)(bits);
}
/// Map 64 bits to [low, high) in float64.
AMBIT_HOST_DEVICE inline double to_uniform(uint64_t bits, double low, double high) {
  const double x = std::fma(high - low, to_unit(bits), low);
  const double top = std::nextafter(high, low);
  return x < top ? x : top;
}
/// Map 64 bits to a standard normal number by Box-Muller in float64, 32 bits for the radius and 32
/// for the angle. Backends differ only in the last bits, by their libm.
AMBIT_HOST_DEVICE inline double to_normal(uint64_t bits) {
  const double radius = (static_cast<double>(bits & 0xffffffffu) + 1) * 0x1p-32;  // (0, 1]
  const double angle = static_cast<double>(bits >> 32) * 0x1p-32;
  return std::sqrt(-2 * std::log(radius)) * std::cos(6.283185307179586 * angle);
}
/// Map 64 bits to [0, range), range >= 1: the upper half of bits * range.
AMBIT_HOST_DEVICE inline uint64_t to_below(uint64_t bits, uint64_t range) {
  const uint64_t high = bits >> 32, low = bits & 0xffffffffu;
  // In 32-bit halves: device code has no __int128.
  const uint64_t rh = range >> 32, rl = range & 0xffffffffu;
  const uint64_t mid = high * rl + ((low * rl) >> 32);
  return high * rh + (mid >> 32) + ((low * rh + (mid & 0xffffffffu)) >> 32);
}

/// Return element i of a standard normal fill.
AMBIT_HOST_DEVICE inline double normal(uint64_t seed, uint64_t offset, uint64_t i) {
  return to_normal(bits64(seed, offset, i));
}
/// Return element i of an integer fill, in [0, range).
AMBIT_HOST_DEVICE inline uint64_t below(uint64_t seed, uint64_t offset, uint64_t i,
                                        uint64_t range) {
  return to_below(bits64(seed, offset, i), range);
}

/// Return how many elements of a fill with T one block provides: 4 or 2.
template <class T>
AMBIT_HOST_DEVICE constexpr uint64_t elements_per_block(RandomParams::Kind kind) {
  using Kind = RandomParams::Kind;
  return kind == Kind::bernoulli || (kind == Kind::uniform && std::is_same_v<T, float>) ? 4 : 2;
}

/// Return number `lane` in [0, elements_per_block) of a block. Requires params.low < params.high; T
/// is floating point for uniform and normal.
template <class T>
AMBIT_HOST_DEVICE inline T from_block(const RandomParams& params, const Block& b, uint64_t lane) {
  switch (params.kind) {
    case RandomParams::Kind::bernoulli:
      return static_cast<T>(to_unit(b.word[lane]) < params.low);
    case RandomParams::Kind::integer: {
      const auto low = static_cast<uint64_t>(static_cast<int64_t>(params.low));
      const auto range = static_cast<uint64_t>(params.high - params.low);
      return static_cast<T>(static_cast<int64_t>(low + to_below(bits64(b, lane), range)));
    }
    case RandomParams::Kind::normal:
      return static_cast<T>(params.low + params.high * to_normal(bits64(b, lane)));
    case RandomParams::Kind::uniform:
      break;
  }
  if constexpr (std::is_same_v<T, float>) {
    return to_uniform(b.word[lane], static_cast<float>(params.low),
                      static_cast<float>(params.high));
  } else {
    return static_cast<T>(to_uniform(bits64(b, lane), params.low, params.high));
  }
}

/// Return element i of a fill.
template <class T>
AMBIT_HOST_DEVICE inline T element(const RandomParams& params, uint64_t i) {
  const uint64_t n = elements_per_block<T>(params.kind);
  return from_block<T>(params, generate(params.seed, params.offset + i / n), i % n);
}

/// Return the number of blocks that a fill of n elements consumes: the 64-bit count for all kinds.
AMBIT_HOST_DEVICE constexpr uint64_t blocks(uint64_t n) { return (n + 1) / 2; }

}  // namespace ambit::philox
