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

#include "math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;
constexpr int64_t kBlock = 128;

/// A vector of complex numbers.
struct Z {
  V re, im;
};

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

V number(double x) { return hn::Set(D(), x); }
[[gnu::noinline]] V sine(V x) { return Sin()(D(), x); }
[[gnu::noinline]] V cosine(V x) { return Cos()(D(), x); }
[[gnu::noinline]] V exponential(V x) { return Exp()(D(), x); }
/// Return |z|^2.
V norm(const Z& z) { return hn::MulAdd(z.re, z.re, hn::Mul(z.im, z.im)); }
Z scaled(const Z& z, double factor) {
  return {hn::Mul(z.re, number(factor)), hn::Mul(z.im, number(factor))};
}
Z product(const Z& a, const Z& b) {
  return {hn::MulSub(a.re, b.re, hn::Mul(a.im, b.im)), hn::MulAdd(a.re, b.im, hn::Mul(a.im, b.re))};
}
/// Return the sum of a b and c d, where the products of float32 numbers are exact.
V sum_of_products(V a, V b, V c, V d) { return hn::MulAdd(a, b, hn::Mul(c, d)); }

/// For parts of float32: the denominator neither overflows nor underflows.
struct Quotient {
  Z operator()(const Z& a, const Z& b) const {
    const V below = hn::Div(number(1), norm(b));
    return {hn::Mul(sum_of_products(a.re, b.re, a.im, b.im), below),
            hn::Mul(sum_of_products(a.im, b.re, hn::Neg(a.re), b.im), below)};
  }
};

/// Scaled by the larger part of b.
struct ScaledQuotient {
  Z operator()(const Z& a, const Z& b) const {
    const auto is_real = hn::Ge(hn::Abs(b.re), hn::Abs(b.im));
    const V large = hn::IfThenElse(is_real, b.re, b.im);
    const V small = hn::IfThenElse(is_real, b.im, b.re);
    const V ratio = hn::Div(small, large);
    const V scale = hn::Div(number(1), hn::MulAdd(small, ratio, large));
    const V first = hn::IfThenElse(is_real, a.re, a.im);
    const V second = hn::IfThenElse(is_real, a.im, a.re);
    const V im = hn::Mul(hn::NegMulAdd(first, ratio, second), scale);
    return {hn::Mul(hn::MulAdd(second, ratio, first), scale),
            hn::IfThenElse(is_real, im, hn::Neg(im))};
  }
};

template <class Divide>
struct Reciprocal {
  Z operator()(const Z& z) const { return Divide()({number(1), hn::Zero(D())}, z); }
};

struct ComplexExp {
  Z operator()(const Z& z) const {
    const V length = exponential(z.re);
    return {hn::Mul(length, cosine(z.im)), hn::Mul(length, sine(z.im))};
  }
};

struct ComplexExp2 {
  Z operator()(const Z& z) const { return ComplexExp()(scaled(z, 0.69314718055994530942)); }
};

/// The angle of z from its smaller by its larger part.
[[gnu::noinline]] V angle_of(const Z& z) {
  const V x = hn::Abs(z.re), y = hn::Abs(z.im), half = number(1.57079632679489661923);
  V t = Atan()(D(), hn::Div(hn::Min(x, y), hn::Max(x, y)));
  t = hn::IfThenElse(hn::Gt(y, x), hn::Sub(half, t), t);
  // Not Lt: the angle of -0 + 0 i is pi.
  const auto is_left =
      hn::RebindMask(D(), hn::TestBit(hn::BitCast(hn::RebindToUnsigned<D>(), z.re),
                                      hn::Set(hn::RebindToUnsigned<D>(), uint64_t{1} << 63)));
  t = hn::IfThenElse(is_left, hn::Sub(hn::Add(half, half), t), t);
  return hn::CopySign(t, z.im);
}

/// log |z| = log(u) / 2, where u is |z|^2 rounded; the rounding error of u matters near |z| = 1.
struct ComplexLog {
  Z operator()(const Z& z) const {
    const V x = hn::Mul(z.re, z.re), y = hn::Mul(z.im, z.im);  // exact
    const V large = hn::Max(x, y), small = hn::Min(x, y), u = hn::Add(large, small);
    const V rest = hn::Sub(small, hn::Sub(u, large));
    const V log = hn::Add(hn::Log(D(), u), hn::Div(rest, u));
    return {hn::Mul(log, number(0.5)), angle_of(z)};
  }
};

struct ComplexLog2 {
  Z operator()(const Z& z) const { return scaled(ComplexLog()(z), 1.44269504088896340736); }
};
struct ComplexLog10 {
  Z operator()(const Z& z) const { return scaled(ComplexLog()(z), 0.43429448190325182765); }
};

/// For parts of float32: the squares neither overflow nor underflow.
struct ComplexSqrt {
  Z operator()(const Z& z) const {
    const V x = hn::Abs(z.re), y = hn::Abs(z.im), half = number(0.5);
    const V large = hn::Sqrt(hn::Mul(hn::Add(hn::Sqrt(norm(z)), x), half));
    const V small = hn::Div(hn::Mul(y, half), large);
    const auto is_left = hn::Lt(z.re, hn::Zero(D()));
    return {hn::IfThenElse(is_left, small, large),
            hn::CopySign(hn::IfThenElse(is_left, large, small), z.im)};
  }
};

struct ComplexRsqrt {
  Z operator()(const Z& z) const { return Reciprocal<ScaledQuotient>()(ComplexSqrt()(z)); }
};

/// (e^x - e^-x) / 2 and (e^x + e^-x) / 2.
struct Hyperbolic {
  explicit HWY_INLINE Hyperbolic(V x) {
    const V size = hn::Abs(x), half = number(0.5);
    const V m = Expm1()(D(), size), below = hn::Div(m, hn::Add(m, number(1)));
    sinh = hn::CopySign(hn::Mul(half, hn::Add(m, below)), x);
    const V e = hn::Add(m, number(1));
    cosh = hn::Mul(half, hn::Add(e, hn::Div(number(1), e)));
  }
  V sinh, cosh;
};

struct ComplexSinh {
  Z operator()(const Z& z) const {
    const Hyperbolic h(z.re);
    return {hn::Mul(h.sinh, cosine(z.im)), hn::Mul(h.cosh, sine(z.im))};
  }
};
struct ComplexCosh {
  Z operator()(const Z& z) const {
    const Hyperbolic h(z.re);
    return {hn::Mul(h.cosh, cosine(z.im)), hn::Mul(h.sinh, sine(z.im))};
  }
};
/// (sinh x cosh x + i sin y cos y) / (sinh^2 x + cos^2 y).
struct ComplexTanh {
  Z operator()(const Z& z) const {
    const Hyperbolic h(z.re);
    const V c = cosine(z.im), below = hn::MulAdd(h.sinh, h.sinh, hn::Mul(c, c));
    return {hn::Div(hn::Mul(h.sinh, h.cosh), below), hn::Div(hn::Mul(sine(z.im), c), below)};
  }
};

/// f(i z) / i
template <class F>
struct Turned {
  Z operator()(const Z& z) const {
    const Z t = F()({hn::Neg(z.im), z.re});
    return {t.im, hn::Neg(t.re)};
  }
};
struct ComplexCos {
  Z operator()(const Z& z) const { return ComplexCosh()({hn::Neg(z.im), z.re}); }
};

struct ComplexSigmoid {
  Z operator()(const Z& z) const {
    const Z e = ComplexExp()({hn::Neg(z.re), hn::Neg(z.im)});
    return Reciprocal<ScaledQuotient>()({hn::Add(e.re, number(1)), e.im});
  }
};

/// e^(b log a)
struct ComplexPow {
  Z operator()(const Z& a, const Z& b) const { return ComplexExp()(product(b, ComplexLog()(a))); }
};

/// For parts of float32: the squares neither overflow nor underflow.
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

// By vectors: the compiler's own vectors of such a loop have fused multiply-adds. The rest of less
// than a vector is computed in copies.
template <class T>
void mul_loop(int64_t n, void* y, const void* a, const void* b) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto multiply = [d](T* to, const T* left, const T* right) {
    hn::Vec<decltype(d)> a_re, a_im, b_re, b_im;
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
  HWY_ALIGN T to[2 * hn::MaxLanes(d)], first[2 * hn::MaxLanes(d)] = {},
                                                 second[2 * hn::MaxLanes(d)] = {};
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
