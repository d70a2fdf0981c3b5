// Inner loops of complex numbers. Elements are converted in blocks to separate real and imaginary
// parts in float64, on which functions run as vectors. The formulas hold for finite operands and
// results; all other elements are computed again by complex_map(), which has the special values of
// C99. complex64 is rounded once. Not compiled with contraction: a b - b a must be 0.
#include "complex_loops.h"
#include "backends/cpu/runtime/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise/complex_loops.cpp"
#include <ambit/backend/complex_functions.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "complex_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

constexpr int64_t kBlock = 128;

/// A block of complex numbers.
struct Block {
  Z load(int64_t i) const { return {hn::Load(D(), re + i), hn::Load(D(), im + i)}; }
  void store(int64_t i, const Z& z) {
    hn::Store(z.re, D(), re + i);
    hn::Store(z.im, D(), im + i);
  }
  std::complex<double> at(int64_t i) const { return {re[i], im[i]}; }
  void set(int64_t i, const std::complex<double>& z) { re[i] = z.real(), im[i] = z.imag(); }
  /// Elements from n to the end of a vector are 1.
  template <class T>
  [[gnu::noinline]] void read(int64_t n, const T* from) {
    for (int64_t i = 0; i < n; ++i) re[i] = from[2 * i], im[i] = from[2 * i + 1];
    const int64_t end = std::min(kBlock, n + static_cast<int64_t>(hn::Lanes(D())));
    for (int64_t i = n; i < end; ++i) re[i] = im[i] = 1;
  }
  template <class T>
  [[gnu::noinline]] void write(int64_t n, T* to) const {
    for (int64_t i = 0; i < n; ++i) {
      to[2 * i] = static_cast<T>(re[i]);
      to[2 * i + 1] = static_cast<T>(im[i]);
    }
  }
  template <class T>
  void write_real(int64_t n, T* to) const {
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(re[i]);
  }

  alignas(64) double re[kBlock], im[kBlock];
};

/// NaN for operands that are not finite, else 0.
V excess(const Z& z) { return hn::Add(hn::Sub(z.re, z.re), hn::Sub(z.im, z.im)); }

/// Compute the elements of a block again whose operand or result is not finite.
[[gnu::noinline]] void correct(int64_t m, Block& y, const Block& x, ComplexMap map) {
  for (int64_t i = 0; i < m; ++i) {
    const double sum = x.re[i] * 0 + x.im[i] * 0 + y.re[i] * 0 + y.im[i] * 0;
    if (sum != 0) y.set(i, map(x.at(i)));
  }
}
[[gnu::noinline]] void correct(int64_t m, Block& y, const Block& a, const Block& b,
                               ComplexMap2 map) {
  for (int64_t i = 0; i < m; ++i) {
    const double sum =
        a.re[i] * 0 + a.im[i] * 0 + b.re[i] * 0 + b.im[i] * 0 + y.re[i] * 0 + y.im[i] * 0;
    if (sum != 0) y.set(i, map(a.at(i), b.at(i)));
  }
}

/// y[i] = F()(x[i]) for m elements of a block, or map(x[i]) where the formula does not hold.
template <class F, class Map, class... In>
HWY_INLINE void map_block(int64_t m, Block& y, Map map, const In&... x) {
  V bad = hn::Zero(D());
  for (int64_t i = 0; i < m; i += static_cast<int64_t>(hn::Lanes(D()))) {
    const Z result = F()(x.load(i)...);
    y.store(i, result);
    ((bad = hn::Add(bad, excess(x.load(i)))), ...);
    bad = hn::Add(bad, excess(result));
  }
  if (HWY_UNLIKELY(!hn::AllTrue(D(), hn::Eq(bad, hn::Zero(D()))))) correct(m, y, x..., map);
}

template <class T, UnaryOp op, class F>
void map_loop(int64_t n, void* y, const void* x) {
  const ComplexMap map = complex_map(op);
  const T* in = static_cast<const T*>(x);
  T* out = static_cast<T*>(y);
  Block from, to;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t m = std::min(kBlock, n - begin);
    from.read(m, in + 2 * begin);
    map_block<F>(m, to, map, from);
    to.write(m, out + 2 * begin);
  }
}

template <class T, BinaryOp op, class F>
void map_loop2(int64_t n, void* y, const void* a, const void* b) {
  const ComplexMap2 map = complex_map(op);
  const T *left = static_cast<const T*>(a), *right = static_cast<const T*>(b);
  T* out = static_cast<T*>(y);
  Block first, second, to;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t m = std::min(kBlock, n - begin);
    first.read(m, left + 2 * begin);
    second.read(m, right + 2 * begin);
    map_block<F>(m, to, map, first, second);
    to.write(m, out + 2 * begin);
  }
}

/// For complex64 operands: the squares neither overflow nor underflow in float64.
template <class T>
void length_loop(int64_t n, void* y, const void* x) {
  const T* in = static_cast<const T*>(x);
  T* out = static_cast<T*>(y);
  Block from, to;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t m = std::min(kBlock, n - begin);
    from.read(m, in + 2 * begin);
    for (int64_t i = 0; i < m; i += static_cast<int64_t>(hn::Lanes(D()))) {
      const V length = hn::Sqrt(norm(from.load(i)));
      hn::Store(length, D(), to.re + i);
    }
    for (int64_t i = 0; i < m; ++i) {
      if (std::isinf(from.re[i]) || std::isinf(from.im[i])) to.re[i] = HUGE_VAL;
    }
    to.write_real(m, out + begin);
  }
}

// Written with vectors, because the compiler would vectorise the loop with fused multiply-adds. The
// last elements, fewer than a vector has, are computed in copies.
template <class T>
void mul_loop(int64_t n, void* y, const void* a, const void* b) {
  using Tag = hn::ScalableTag<T>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(Tag()));
  const auto multiply = [](T* to, const T* left, const T* right) {
    const Tag d;
    hn::Vec<Tag> a_re, a_im, b_re, b_im;
    hn::LoadInterleaved2(d, left, a_re, a_im);
    hn::LoadInterleaved2(d, right, b_re, b_im);
    hn::StoreInterleaved2(hn::Sub(hn::Mul(a_re, b_re), hn::Mul(a_im, b_im)),
                          hn::Add(hn::Mul(a_re, b_im), hn::Mul(a_im, b_re)), d, to);
  };
  T* out = static_cast<T*>(y);
  const T *left = static_cast<const T*>(a), *right = static_cast<const T*>(b);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) multiply(out + 2 * i, left + 2 * i, right + 2 * i);
  if (i == n) return;
  HWY_ALIGN T to[2 * hn::MaxLanes(Tag())], first[2 * hn::MaxLanes(Tag())] = {},
                                                     second[2 * hn::MaxLanes(Tag())] = {};
  const auto bytes = static_cast<size_t>(n - i) * 2 * sizeof(T);
  std::memcpy(first, left + 2 * i, bytes);
  std::memcpy(second, right + 2 * i, bytes);
  multiply(to, first, second);
  std::memcpy(out + 2 * i, to, bytes);
}

template <class T>
void square_loop(int64_t n, void* y, const void* x) {
  mul_loop<T>(n, y, x, x);
}

UnaryLoop find_complex_unary(UnaryOp op, DType dtype) {
  const bool is_float = dtype == kComplexFloat;
#define AMBIT_FLOAT(name, F) \
  case UnaryOp::name:        \
    return is_float ? map_loop<float, UnaryOp::name, F> : nullptr;
#define AMBIT_BOTH(name, F, Other) \
  case UnaryOp::name:              \
    return is_float ? map_loop<float, UnaryOp::name, F> : map_loop<double, UnaryOp::name, Other>;
  switch (op) {
    AMBIT_BOTH(exp, ComplexExp, ComplexExp)
    AMBIT_FLOAT(exp2, ComplexExp2)
    AMBIT_FLOAT(log, ComplexLog)
    AMBIT_FLOAT(log2, ComplexLog2)
    AMBIT_FLOAT(log10, ComplexLog10)
    AMBIT_FLOAT(sqrt, ComplexSqrt)
    AMBIT_FLOAT(rsqrt, ComplexRsqrt)
    AMBIT_BOTH(reciprocal, Reciprocal<Quotient>, Reciprocal<ScaledQuotient>)
    AMBIT_FLOAT(sin, Turned<ComplexSinh>)
    AMBIT_FLOAT(cos, ComplexCos)
    AMBIT_FLOAT(tan, Turned<ComplexTanh>)
    AMBIT_FLOAT(sinh, ComplexSinh)
    AMBIT_FLOAT(cosh, ComplexCosh)
    AMBIT_FLOAT(tanh, ComplexTanh)
    AMBIT_FLOAT(sigmoid, ComplexSigmoid)
    AMBIT_FLOAT(sign, ComplexSign)
    case UnaryOp::abs:
      return is_float ? length_loop<float> : nullptr;
    case UnaryOp::square:
      return is_float ? square_loop<float> : square_loop<double>;
    default:
      return nullptr;
  }
#undef AMBIT_FLOAT
#undef AMBIT_BOTH
}

BinaryLoop find_complex_binary(BinaryOp op, DType dtype) {
  const bool is_float = dtype == kComplexFloat;
  switch (op) {
    case BinaryOp::mul:
      return is_float ? mul_loop<float> : mul_loop<double>;
    case BinaryOp::div:
      return is_float ? map_loop2<float, BinaryOp::div, Quotient>
                      : map_loop2<double, BinaryOp::div, ScaledQuotient>;
    case BinaryOp::pow:
      return is_float ? map_loop2<float, BinaryOp::pow, ComplexPow> : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(find_complex_unary);
UnaryLoop complex_unary_loop(UnaryOp op, DType dtype) {
  return HWY_DYNAMIC_DISPATCH(find_complex_unary)(op, dtype);
}

HWY_EXPORT(find_complex_binary);
BinaryLoop complex_binary_loop(BinaryOp op, DType dtype) {
  return HWY_DYNAMIC_DISPATCH(find_complex_binary)(op, dtype);
}

}  // namespace ambit::cpu
#endif
