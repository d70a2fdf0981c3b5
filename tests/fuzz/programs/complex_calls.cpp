// Functions of complex numbers, made from two real operands. Results are returned as real numbers.
#include <ambit/ambit.h>
#include <fmt/format.h>

#include "calls.h"

namespace fuzz {

using namespace ambit;
namespace F = nn::functional;

namespace {

// A complex tensor as a call's operands are combined: Python and function.
struct Number {
  std::string python, dtype;
  std::function<Tensor(const Tensor& x, const Tensor& y)> make;
};

// Parts in float32 or float64. Functions with poles and branch cuts get numbers off the axes.
Number number_of(Generator& g, bool off_axes) {
  const bool wide = g.random().one_in(2);
  const DType dtype = wide ? kFloat64 : kFloat32;
  if (!wide) g.compute_in(kFloat32);
  const double a = off_axes ? 0.0625 : 0, b = off_axes ? 0.09375 : 0;
  return {fmt::format("torch.complex($0.to({0}) + {1}, $1.to({0}) - {2})", dtype_text(dtype), a, b),
          dtype_text(dtype), [=](const Tensor& x, const Tensor& y) {
            return complex(x.to(dtype) + a, y.to(dtype) - b);
          }};
}

Tensor as_real(const Tensor& t) { return t.is_complex() ? view_as_real(t) : t; }

template <class Run>
struct Row {
  const char* python;  // with z, and w if there are two
  Run run;
  bool off_axes = true;
  double roundings = 512;
};

using OfOne = Tensor (*)(const Tensor& z);
#define AMBIT_ROW(python, expression, ...)                                                  \
  {                                                                                         \
    python, [](const Tensor& z) -> Tensor { return expression; } __VA_OPT__(, ) __VA_ARGS__ \
  }
const std::vector<Row<OfOne>> kOfOne{
    AMBIT_ROW("z.conj().resolve_conj()", conj(z), false),
    AMBIT_ROW("torch.abs(z)", abs(z), false),
    AMBIT_ROW("torch.angle(z)", angle(z)),
    AMBIT_ROW("torch.sgn(z)", sgn(z), false),
    AMBIT_ROW("z.real * z.imag", real(z) * imag(z), false),
    AMBIT_ROW("-z", -z, false),
    AMBIT_ROW("z.t() if z.dim() == 2 else z", z.dim() == 2 ? z.t() : z, false),
    AMBIT_ROW("torch.square(z)", square(z), false),
    AMBIT_ROW("torch.reciprocal(z)", reciprocal(z)),
    AMBIT_ROW("torch.exp(z)", exp(z), false),
    AMBIT_ROW("torch.exp2(z)", exp2(z), false),
    AMBIT_ROW("torch.expm1(z)", expm1(z), false),
    AMBIT_ROW("torch.log(z)", log(z)),
    AMBIT_ROW("torch.log1p(z)", log1p(z)),
    AMBIT_ROW("torch.log2(z)", log2(z)),
    AMBIT_ROW("torch.log10(z)", log10(z)),
    AMBIT_ROW("torch.sqrt(z)", sqrt(z)),
    AMBIT_ROW("torch.rsqrt(z)", rsqrt(z)),
    AMBIT_ROW("torch.sin(z)", sin(z), false),
    AMBIT_ROW("torch.cos(z)", cos(z), false),
    AMBIT_ROW("torch.tan(z)", tan(z)),
    AMBIT_ROW("torch.asin(z)", asin(z)),
    AMBIT_ROW("torch.acos(z)", acos(z)),
    AMBIT_ROW("torch.atan(z)", atan(z)),
    AMBIT_ROW("torch.sinh(z)", sinh(z), false),
    AMBIT_ROW("torch.cosh(z)", cosh(z), false),
    AMBIT_ROW("torch.tanh(z)", tanh(z)),
    AMBIT_ROW("torch.asinh(z)", asinh(z)),
    AMBIT_ROW("torch.acosh(z)", acosh(z)),
    AMBIT_ROW("torch.atanh(z)", atanh(z)),
    AMBIT_ROW("torch.sigmoid(z)", sigmoid(z)),
    AMBIT_ROW("F.tanhshrink(z)", F::tanhshrink(z)),
    AMBIT_ROW("F.softsign(z)", F::softsign(z), false),
    AMBIT_ROW("torch.pow(z, 3)", pow(z, 3)),
    AMBIT_ROW("torch.pow(z, 0.5)", pow(z, 0.5)),
    AMBIT_ROW("z.sum()", z.sum(), false),
    AMBIT_ROW("z.mean()", z.mean(), false),
    AMBIT_ROW("z.prod()", z.prod(), false),
    AMBIT_ROW("torch.var(z, unbiased=False)", var(z, false), false),
    AMBIT_ROW("torch.std(z, unbiased=False)", ambit::std(z, false)),
    AMBIT_ROW("torch.cumsum(z, -1)", cumsum(z, -1), false),
    AMBIT_ROW("torch.cumprod(z, -1)", cumprod(z, -1), false),
    AMBIT_ROW("torch.logsumexp(z, 0)", logsumexp(z, 0)),
    AMBIT_ROW("torch.norm(z)", norm(z)),
    AMBIT_ROW("torch.linalg.vector_norm(z, 3, -1)", linalg_vector_norm(z, 3, -1)),
    AMBIT_ROW("torch.linalg.vector_norm(z, 1)", linalg_vector_norm(z, 1)),
    AMBIT_ROW("torch.fft.fft(z)", fft::fft(z), false),
    AMBIT_ROW("torch.fft.ifft(z, norm='ortho')", fft::ifft(z, {}, -1, "ortho"), false),
    AMBIT_ROW("torch.fft.fftn(z)", fft::fftn(z), false),
    AMBIT_ROW("torch.fft.irfft(z, 6)", fft::irfft(z, 6), false),
    AMBIT_ROW("torch.fft.hfft(z, 5)", fft::hfft(z, 5), false),
    AMBIT_ROW("torch.isnan(z)", isnan(z), false),
    AMBIT_ROW("torch.view_as_real(z).mul(2)", view_as_real(z).mul(2), false),
};
#undef AMBIT_ROW

using OfTwo = Tensor (*)(const Tensor& z, const Tensor& w);
#define AMBIT_ROW(python, expression, ...)                   \
  {                                                          \
    python, [](const Tensor& z, const Tensor& w) -> Tensor { \
      return expression;                                     \
    } __VA_OPT__(, ) __VA_ARGS__                             \
  }
const std::vector<Row<OfTwo>> kOfTwo{
    AMBIT_ROW("z + w", z + w, false),
    AMBIT_ROW("torch.sub(z, w, alpha=2)", sub(z, w, 2), false),
    AMBIT_ROW("z * w", z* w, false),
    AMBIT_ROW("z / w", z / w),
    AMBIT_ROW("torch.pow(z, w)", pow(z, w)),
    AMBIT_ROW("z * w.real", z* real(w), false),
    AMBIT_ROW("w.imag / z", imag(w) / z),
    AMBIT_ROW("torch.lerp(z, w, 0.25)", lerp(z, w, 0.25), false),
    AMBIT_ROW("torch.lerp(z, w, 0.75)", lerp(z, w, 0.75), false),
    AMBIT_ROW("torch.addcmul(z, z, w)", addcmul(z, z, w), false),
    AMBIT_ROW("torch.addcdiv(z, z, w)", addcdiv(z, z, w)),
    AMBIT_ROW("torch.where(z.real > 0, z, w)", where(real(z) > 0, z, w), false),
    AMBIT_ROW("(z == w).to(torch.float32)", (z == w).to(kFloat32), false),
    AMBIT_ROW("torch.linalg.vecdot(z, w)", linalg_vecdot(z, w), false),
    AMBIT_ROW("torch.cat([z, w], -1)", cat({z, w}, -1), false),
    AMBIT_ROW("torch.stack([z, w])", stack({z, w}), false),
    AMBIT_ROW("torch.vdot(z.reshape(-1), w.reshape(-1))", vdot(z.reshape({-1}), w.reshape({-1})),
              false),
    AMBIT_ROW("z.reshape(-1, 1) @ w.reshape(1, -1)", matmul(z.reshape({-1, 1}), w.reshape({1, -1})),
              false),
    AMBIT_ROW("torch.dist(z, w)", dist(z, w)),
    AMBIT_ROW("F.l1_loss(z, w)", F::l1_loss(z, w)),
};
#undef AMBIT_ROW

void of_one(Generator& g) {
  const Row<OfOne>& row = g.random().choose(kOfOne);
  const Sizes shape = g.small_sizes(1, 3);
  const Number z = number_of(g, row.off_axes);
  g.keep_sizes();
  g.call(
      fmt::format("as_real((lambda z: {})({}))", row.python, z.python),
      {g.operand(shape), g.operand(shape)},
      [=, run = row.run](const Tensors& t) { return as_real(run(z.make(t[0], t[1]))); },
      row.roundings);
}

// The second number shares an operand with the first.
void of_two(Generator& g) {
  const Row<OfTwo>& row = g.random().choose(kOfTwo);
  const Sizes shape = g.small_sizes(1, 3);
  const Number z = number_of(g, row.off_axes);
  g.keep_sizes();
  g.call(
      fmt::format(
          "as_real((lambda z, w: {0})({1}, torch.complex($2.to({2}), $0.to({2})) + 0.1875))",
          row.python, z.python, z.dtype),
      {g.operand(shape), g.operand(shape), g.operand(shape)},
      [=, run = row.run](const Tensors& t) {
        const Tensor first = z.make(t[0], t[1]);
        const DType part = real_dtype(first.dtype());
        const Tensor second = complex(t[2].to(part), t[0].to(part)) + 0.1875;
        return as_real(run(first, second));
      },
      row.roundings);
}

}  // namespace

const std::vector<Call> kComplexCalls{of_one, of_two, of_one};

}  // namespace fuzz
