// Unary functions, arithmetic, reductions, scans and sorting: with every dtype, infinities and NaN.
#include <ambit/ambit.h>
#include <fmt/format.h>

#include "calls.h"

namespace fuzz {

using namespace ambit;
namespace F = nn::functional;

namespace {

using Fill = Generator::Fill;

// Floats of the call's dtype, or occasionally integers or bools.
// Operands with infinities and NaN do not require grad, because libraries have different gradients
// there.
int any_operand(Generator& g, const Sizes& shape, Fill fill) {
  Random& r = g.random();
  if (fill == Fill::special) {
    if (r.one_in(3)) return g.constant(shape, fill);
    fill = Fill::few;
  }
  if (!r.one_in(4)) return g.operand(shape, fill);
  static const std::vector<DType> kDTypes{kInt64, kInt32, kInt16, kInt8, kUInt8, kBool};
  const DType d = r.choose(kDTypes);
  g.compute_in(kFloat32);
  const int64_t least = d == kUInt8 || fill == Fill::positive || fill == Fill::unit ? 0 : -4;
  return g.integers(shape, least + (fill == Fill::positive), 4, d);
}

template <class Run>
struct Row {
  const char* python;
  Run run;
  Fill fill = Fill::special;
  double roundings = 64;
};

using OfOne = Tensor (*)(const Tensor& x);
#define AMBIT_ROW(python, expression, ...)                                                  \
  {                                                                                         \
    python, [](const Tensor& x) -> Tensor { return expression; } __VA_OPT__(, ) __VA_ARGS__ \
  }
const std::vector<Row<OfOne>> kMaps{
    AMBIT_ROW("torch.abs($0)", abs(x)),
    AMBIT_ROW("torch.neg($0)", neg(x)),
    AMBIT_ROW("torch.sign($0)", sign(x)),
    AMBIT_ROW("torch.exp($0)", exp(x)),
    AMBIT_ROW("torch.exp2($0)", exp2(x)),
    AMBIT_ROW("torch.expm1($0)", expm1(x)),
    AMBIT_ROW("torch.log($0)", log(x)),
    AMBIT_ROW("torch.log1p($0)", log1p(x)),
    AMBIT_ROW("torch.log2($0)", log2(x)),
    AMBIT_ROW("torch.log10($0)", log10(x)),
    AMBIT_ROW("torch.sqrt($0)", sqrt(x)),
    AMBIT_ROW("torch.rsqrt($0)", rsqrt(x)),
    AMBIT_ROW("torch.reciprocal($0)", reciprocal(x)),
    AMBIT_ROW("torch.square($0)", square(x)),
    AMBIT_ROW("torch.sin($0)", sin(x)),
    AMBIT_ROW("torch.cos($0)", cos(x)),
    AMBIT_ROW("torch.tan($0)", tan(x), Fill::special, 1024),
    AMBIT_ROW("torch.asin($0)", asin(x)),
    AMBIT_ROW("torch.acos($0)", acos(x)),
    AMBIT_ROW("torch.atan($0)", atan(x)),
    AMBIT_ROW("torch.sinh($0)", sinh(x)),
    AMBIT_ROW("torch.cosh($0)", cosh(x)),
    AMBIT_ROW("torch.tanh($0)", tanh(x)),
    AMBIT_ROW("torch.asinh($0)", asinh(x)),
    AMBIT_ROW("torch.acosh($0)", acosh(x)),
    AMBIT_ROW("torch.atanh($0)", atanh(x)),
    AMBIT_ROW("torch.sigmoid($0)", sigmoid(x)),
    AMBIT_ROW("torch.relu($0)", relu(x), Fill::special, 0),
    AMBIT_ROW("torch.erf($0)", erf(x)),
    AMBIT_ROW("torch.erfc($0)", erfc(x)),
    AMBIT_ROW("torch.erfinv($0)", erfinv(x), Fill::unit, 256),
    AMBIT_ROW("lgamma($0)", lgamma(x), Fill::positive, 256),
    AMBIT_ROW("digamma($0)", digamma(x), Fill::positive, 256),
    AMBIT_ROW("torch.polygamma(2, $0)", polygamma(2, x), Fill::positive, 256),
    AMBIT_ROW("mvlgamma($0 + 2, 3)", mvlgamma(x + 2, 3), Fill::positive, 256),
    // At infinity PyTorch returns NaN.
    AMBIT_ROW("torch.i0($0)", i0(x), Fill::few),
    AMBIT_ROW("torch.special.i1($0)", special_i1(x), Fill::few),
    AMBIT_ROW("torch.special.i0e($0)", special_i0e(x)),
    AMBIT_ROW("torch.special.i1e($0)", special_i1e(x)),
    AMBIT_ROW("torch.sinc($0)", sinc(x), Fill::positive, 256),
    AMBIT_ROW("torch.frac($0)", frac(x), Fill::special, 0),
    AMBIT_ROW("torch.floor($0)", floor(x), Fill::special, 0),
    AMBIT_ROW("torch.ceil($0)", ceil(x), Fill::special, 0),
    AMBIT_ROW("torch.round($0)", round(x), Fill::special, 0),
    AMBIT_ROW("torch.round($0, decimals=1)", round(x, 1)),
    AMBIT_ROW("torch.trunc($0)", trunc(x), Fill::special, 0),
    AMBIT_ROW("torch.logit($0)", logit(x), Fill::unit),
    AMBIT_ROW("torch.logit($0, 0.25)", logit(x, 0.25)),
    AMBIT_ROW("torch.special.erfcx($0)", special_erfcx(x), Fill::few, 256),
    AMBIT_ROW("torch.special.ndtr($0)", special_ndtr(x)),
    AMBIT_ROW("torch.special.log_ndtr($0)", special_log_ndtr(x), Fill::few, 256),
    AMBIT_ROW("torch.special.ndtri($0)", special_ndtri(x), Fill::unit, 256),
    AMBIT_ROW("torch.special.entr($0)", special_entr(x)),
    AMBIT_ROW("torch.deg2rad($0)", deg2rad(x)),
    AMBIT_ROW("torch.rad2deg($0)", rad2deg(x)),
    AMBIT_ROW("torch.signbit($0)", signbit(x), Fill::few),
    AMBIT_ROW("torch.isnan($0)", isnan(x)),
    AMBIT_ROW("torch.isposinf($0)", isposinf(x)),
    AMBIT_ROW("torch.isneginf($0)", isneginf(x)),
    AMBIT_ROW("torch.angle($0)", angle(x)),
    AMBIT_ROW("torch.sgn($0)", sgn(x)),
    AMBIT_ROW("torch.nan_to_num($0.double())", nan_to_num(x.to(kFloat64)), Fill::special, 0),
    AMBIT_ROW("torch.nan_to_num($0, 1.5, 2.5, -2.5)", nan_to_num(x, 1.5, 2.5, -2.5), Fill::special,
              0),
    AMBIT_ROW("torch.logical_not($0)", logical_not(x)),
    AMBIT_ROW("torch.bitwise_not($0)", bitwise_not(x)),
    AMBIT_ROW("flat(torch.frexp($0))", flat(frexp(x)), Fill::few, 0),
    AMBIT_ROW("torch.clamp($0, -1, 1.5)", clamp(x, -1, 1.5)),
    AMBIT_ROW("torch.clamp($0, 1, -1)", clamp(x, 1, -1)),
    AMBIT_ROW("torch.clamp_min($0, 0.5)", clamp_min(x, 0.5)),
    AMBIT_ROW("torch.pow($0, 3)", pow(x, 3)),
    AMBIT_ROW("torch.pow($0, -1.5)", pow(x, -1.5)),
    AMBIT_ROW("torch.pow($0, 0)", pow(x, 0)),
    AMBIT_ROW("torch.pow(2.5, $0)", pow(2.5, x)),
    AMBIT_ROW("torch.pow(0, $0.detach())", pow(0, x.detach()), Fill::positive),
    AMBIT_ROW("torch.float_power($0, 2)", float_power(x, 2), Fill::few),
    AMBIT_ROW("torch.rsub($0, 2, alpha=3)", rsub(x, 2, 3)),
    AMBIT_ROW("torch.xlogy(2, $0)", xlogy(2, x)),
    AMBIT_ROW("torch.xlogy($0, 0)", xlogy(x, 0)),
    AMBIT_ROW("torch.remainder(5, $0)", remainder(5, x), Fill::positive),
    AMBIT_ROW("torch.remainder($0, -2.5)", remainder(x, -2.5)),
    AMBIT_ROW("torch.fmod($0, -2)", fmod(x, -2)),
    AMBIT_ROW("torch.div($0, 2, rounding_mode='floor')", div(x, 2, "floor")),
    AMBIT_ROW("torch.div($0, -2, rounding_mode='trunc')", div(x, -2, "trunc")),
    AMBIT_ROW("torch.floor_divide($0, 0.75)", floor_divide(x, 0.75)),
    AMBIT_ROW("torch.special.zeta($0 + 1.0, 0.5)", special_zeta(x + 1., 0.5), Fill::positive, 256),
    AMBIT_ROW("torch.special.xlog1py($0, 0.5)", special_xlog1py(x, 0.5)),
    AMBIT_ROW("2 / $0", 2 / x),
    AMBIT_ROW("F.gelu($0)", gelu(x), Fill::few),
    AMBIT_ROW("F.gelu($0, approximate='tanh')", F::gelu(x, "tanh"), Fill::few),
    AMBIT_ROW("F.silu($0)", F::silu(x), Fill::few),
    AMBIT_ROW("F.mish($0)", F::mish(x), Fill::few),
    // At 0 the second gradients differ, see torch/README.md.
    AMBIT_ROW("F.elu($0 + 0.125, 1.5)", F::elu(x + 0.125, 1.5)),
    AMBIT_ROW("F.celu($0 + 0.125, 1.5)", F::celu(x + 0.125, 1.5)),
    AMBIT_ROW("F.selu($0 + 0.125)", F::selu(x + 0.125)),
    AMBIT_ROW("F.softplus($0, 2, 1.5)", F::softplus(x, 2, 1.5)),
    AMBIT_ROW("F.logsigmoid($0)", F::logsigmoid(x), Fill::few),
    AMBIT_ROW("F.softsign($0)", F::softsign(x)),
    AMBIT_ROW("F.tanhshrink($0)", F::tanhshrink(x)),
    AMBIT_ROW("F.leaky_relu($0, 0.25)", F::leaky_relu(x, 0.25)),
    AMBIT_ROW("F.hardtanh($0, -1.5, 0.5)", F::hardtanh(x, -1.5, 0.5)),
    AMBIT_ROW("F.hardshrink($0, 1.0)", F::hardshrink(x, 1)),
    AMBIT_ROW("softshrink($0, 1.0)", F::softshrink(x, 1)),
    // The operands exclude the limits, 3 and -3, where the gradients of PyTorch 1.13 and 2 differ.
    AMBIT_ROW("F.hardswish($0 * 1.125)", F::hardswish(x * 1.125)),
    AMBIT_ROW("hardsigmoid($0)", F::hardsigmoid(x), Fill::few),
    AMBIT_ROW("F.relu6($0)", F::relu6(x)),
    AMBIT_ROW("F.threshold($0, 0.5, 1.5)", F::threshold(x, 0.5, 1.5)),
    AMBIT_ROW("F.rrelu($0, 0.25, 0.75)", F::rrelu(x, 0.25, 0.75)),
    AMBIT_ROW("$0.double().sum_to_size([1] * $0.dim()).clone()",
              x.to(kFloat64).sum_to_size(Sizes(static_cast<size_t>(x.dim()), 1)).clone(),
              Fill::few),
};
#undef AMBIT_ROW

void map(Generator& g) {
  const auto& row = g.random().choose(kMaps);
  g.call(
      row.python, {any_operand(g, g.small_sizes(0, 3), row.fill)},
      [run = row.run](const Tensors& t) { return run(t[0]); }, row.roundings);
}

using OfTwo = Tensor (*)(const Tensor& x, const Tensor& y);
#define AMBIT_ROW(python, expression, ...)                   \
  {                                                          \
    python, [](const Tensor& x, const Tensor& y) -> Tensor { \
      return expression;                                     \
    } __VA_OPT__(, ) __VA_ARGS__                             \
  }
const std::vector<Row<OfTwo>> kTwo{
    AMBIT_ROW("torch.add($0, $1)", add(x, y)),
    AMBIT_ROW("torch.add($0, $1, alpha=2)", add(x, y, 2)),
    AMBIT_ROW("torch.sub($0, $1)", sub(x, y)),
    AMBIT_ROW("torch.mul($0, $1)", mul(x, y)),
    AMBIT_ROW("torch.div($0, $1)", div(x, y)),
    AMBIT_ROW("torch.div($0, $1, rounding_mode='floor')", div(x, y, "floor"), Fill::positive),
    AMBIT_ROW("torch.div($0, $1, rounding_mode='trunc')", div(x, y, "trunc"), Fill::positive),
    AMBIT_ROW("torch.floor_divide($0, $1)", floor_divide(x, y), Fill::positive),
    AMBIT_ROW("torch.remainder($0, $1)", remainder(x, y), Fill::positive),
    AMBIT_ROW("torch.fmod($0, $1)", fmod(x, y), Fill::positive),
    AMBIT_ROW("torch.remainder($0.neg(), $1)", remainder(x.neg(), y), Fill::positive),
    AMBIT_ROW("torch.pow($0, $1)", pow(x, y), Fill::positive),
    AMBIT_ROW("torch.pow($0.detach(), $1.detach())", pow(x.detach(), y.detach())),
    AMBIT_ROW("torch.float_power($0, $1)", float_power(x, y), Fill::positive),
    AMBIT_ROW("torch.atan2($0, $1)", atan2(x, y)),
    AMBIT_ROW("torch.maximum($0, $1)", maximum(x, y)),
    AMBIT_ROW("torch.minimum($0, $1)", minimum(x, y)),
    AMBIT_ROW("torch.fmax($0, $1)", fmax(x, y)),
    AMBIT_ROW("torch.fmin($0, $1)", fmin(x, y)),
    AMBIT_ROW("torch.hypot($0, $1)", hypot(x, y)),
    AMBIT_ROW("torch.copysign($0, $1)", copysign(x, y), Fill::few),
    AMBIT_ROW("torch.nextafter($0.detach(), $1.detach())", nextafter(x.detach(), y.detach()),
              Fill::few),
    AMBIT_ROW("torch.xlogy($0, $1)", xlogy(x, y), Fill::few),
    AMBIT_ROW("torch.special.xlog1py($0, $1)", special_xlog1py(x, y), Fill::positive),
    AMBIT_ROW("torch.logaddexp($0, $1)", logaddexp(x, y)),
    AMBIT_ROW("torch.logaddexp2($0, $1)", logaddexp2(x, y)),
    AMBIT_ROW("torch.heaviside($0.detach(), $1.detach())", heaviside(x.detach(), y.detach())),
    AMBIT_ROW("torch.ldexp($0, $1)", ldexp(x, y), Fill::few),
    AMBIT_ROW("torch.gcd($0, $1)", gcd(x, y)),
    AMBIT_ROW("torch.lcm($0, $1)", lcm(x, y)),
    AMBIT_ROW("torch.bitwise_and($0, $1)", bitwise_and(x, y)),
    AMBIT_ROW("torch.bitwise_or($0, $1)", bitwise_or(x, y)),
    AMBIT_ROW("torch.bitwise_xor($0, $1)", bitwise_xor(x, y)),
    AMBIT_ROW("torch.bitwise_left_shift($0, $1)", bitwise_left_shift(x, y), Fill::positive),
    AMBIT_ROW("torch.bitwise_right_shift($0, $1)", bitwise_right_shift(x, y), Fill::positive),
    AMBIT_ROW("torch.eq($0, $1)", eq(x, y)),
    AMBIT_ROW("torch.ne($0, $1)", ne(x, y)),
    AMBIT_ROW("torch.lt($0, $1)", lt(x, y)),
    AMBIT_ROW("torch.ge($0, $1)", ge(x, y)),
    AMBIT_ROW("torch.logical_and($0, $1)", logical_and(x, y)),
    AMBIT_ROW("torch.logical_xor($0, $1)", logical_xor(x, y)),
    AMBIT_ROW("torch.isclose($0, $1, 0.25, 0.5, True)", isclose(x, y, 0.25, 0.5, true)),
    AMBIT_ROW("torch.igamma($0, $1)", igamma(x, y), Fill::positive, 512),
    AMBIT_ROW("torch.igammac($0, $1)", igammac(x, y), Fill::positive, 512),
    AMBIT_ROW("torch.special.zeta($0 + 1.0, $1)", special_zeta(x + 1., y), Fill::positive, 256),
    AMBIT_ROW("torch.lerp($0, $1, 0.75)", lerp(x, y, 0.75)),
    AMBIT_ROW("torch.lerp($0, $1, $1)", lerp(x, y, y), Fill::unit),
    AMBIT_ROW("torch.addcmul($0, $1, $1, value=0.5)", addcmul(x, y, y, 0.5)),
    AMBIT_ROW("torch.addcdiv($0, $1, $0, value=0.5)", addcdiv(x, y, x, 0.5), Fill::positive),
    AMBIT_ROW("torch.clamp($0, $1)", clamp(x, y)),
    AMBIT_ROW("torch.clamp($0, max=$1)", clamp(x, {}, y)),
    AMBIT_ROW("torch.clamp($0, $1 - 1, $1)", clamp(x, y - 1, y), Fill::few),
    AMBIT_ROW("torch.dist($0, $1, 3)", dist(x, y, 3), Fill::few, 256),
    AMBIT_ROW("F.prelu($0, $1.reshape(-1)[:1])", F::prelu(x, y.reshape({-1}).slice(0, 0, 1)),
              Fill::few),
    AMBIT_ROW("torch.outer($0.reshape(-1), $1.reshape(-1))",
              outer(x.reshape({-1}), y.reshape({-1}))),
    AMBIT_ROW("torch.rsub($0, $1, alpha=2)", rsub(x, y, 2)),
};
#undef AMBIT_ROW

void arithmetic(Generator& g) {
  const auto& row = g.random().choose(kTwo);
  const Sizes shape = g.small_sizes(0, 3);
  const int x = any_operand(g, shape, row.fill),
            y = any_operand(g, g.broadcastable(shape), row.fill);
  const bool turned = g.random().one_in(3);
  g.call(
      row.python, {turned ? y : x, turned ? x : y},
      [run = row.run](const Tensors& t) { return run(t[0], t[1]); }, row.roundings);
}

using Reduce = Tensor (*)(const Tensor& x, const Sizes& d, bool keep);
#define AMBIT_ROW(python, expression, ...)                                                         \
  {                                                                                                \
    python,                                                                                        \
        [](const Tensor& x, [[maybe_unused]] const Sizes& d,                                       \
           [[maybe_unused]] bool keep) -> Tensor { return expression; } __VA_OPT__(, ) __VA_ARGS__ \
  }
// {d}: a list of dims, {e}: its first, {k}: keepdim.
const std::vector<Row<Reduce>> kReductions{
    AMBIT_ROW("torch.sum($0, {d}, {k})", sum(x, d, keep)),
    AMBIT_ROW("torch.sum($0, {d}, {k}, dtype=torch.float64)", sum(x, d, keep, kFloat64)),
    AMBIT_ROW("torch.mean($0, {d}, {k})", mean(x, d, keep)),
    AMBIT_ROW("torch.nansum($0, {d}, {k})", nansum(x, d, keep)),
    AMBIT_ROW("torch.nanmean($0, {d}, {k})", nanmean(x, d, keep)),
    AMBIT_ROW("torch.prod($0, {e}, {k})", prod(x, d[0], keep), Fill::few, 256),
    AMBIT_ROW("torch.prod($0)", prod(x), Fill::few, 1024),
    AMBIT_ROW("spread(torch.var, $0, {d}, True, {k})", var(x, d, true, keep), Fill::few, 256),
    AMBIT_ROW("torch.var($0, {d}, correction=0, keepdim={k})",
              var(x, d, std::optional<int64_t>(0), keep), Fill::few, 256),
    AMBIT_ROW("spread(torch.std, $0, {d}, True, {k})", ambit::std(x, d, true, keep), Fill::distinct,
              256),
    AMBIT_ROW("flat(torch.var_mean($0, {d}, False, {k}))", flat(var_mean(x, d, false, keep)),
              Fill::few, 256),
    AMBIT_ROW("flat(torch.std_mean($0, {d}, False, {k}))", flat(std_mean(x, d, false, keep)),
              Fill::distinct, 256),
    AMBIT_ROW("torch.amax($0, {d}, {k})", amax(x, d, keep), Fill::few),
    AMBIT_ROW("torch.amin($0, {d}, {k})", amin(x, d, keep), Fill::few),
    AMBIT_ROW("flat(torch.aminmax($0, dim={e}, keepdim={k}))", flat(aminmax(x, d[0], keep)),
              Fill::few),
    AMBIT_ROW("torch.max($0)", max(x), Fill::few),
    AMBIT_ROW("torch.min($0)", min(x), Fill::few),
    AMBIT_ROW("flat(torch.max($0, {e}, {k}))", flat(max(x, d[0], keep)), Fill::distinct),
    AMBIT_ROW("flat(torch.min($0, {e}, {k}))", flat(min(x, d[0], keep)), Fill::distinct),
    AMBIT_ROW("torch.argmax($0, {e}, {k})", argmax(x, d[0], keep), Fill::distinct),
    AMBIT_ROW("torch.argmin($0)", argmin(x), Fill::distinct),
    AMBIT_ROW("torch.any($0, {e}, {k})", any(x, d[0], keep)),
    AMBIT_ROW("torch.all($0, {e}, {k})", all(x, d[0], keep)),
    AMBIT_ROW("torch.logsumexp($0, {d}, {k})", logsumexp(x, d, keep)),
    AMBIT_ROW("torch.norm($0, 2, {d}, {k})", norm(x, 2, d, keep), Fill::special, 256),
    AMBIT_ROW("torch.norm($0, 3, {d}, {k})", norm(x, 3, d, keep), Fill::few, 256),
    AMBIT_ROW("torch.norm($0, 0, {d}, {k})", norm(x, 0, d, keep)),
    AMBIT_ROW("torch.norm($0, inf, {d}, {k})",
              norm(x, std::numeric_limits<double>::infinity(), d, keep)),
    AMBIT_ROW("torch.norm($0, -inf, {d}, {k})",
              norm(x, -std::numeric_limits<double>::infinity(), d, keep)),
    AMBIT_ROW("torch.linalg.vector_norm($0, 0.5, {d}, {k})", linalg_vector_norm(x, 0.5, d, keep),
              Fill::positive, 1024),
    AMBIT_ROW("torch.linalg.vector_norm($0, -2, {d}, {k})", linalg_vector_norm(x, -2, d, keep),
              Fill::positive, 256),
    AMBIT_ROW("torch.count_nonzero($0, {d})", count_nonzero(x, d)),
    AMBIT_ROW("torch.cumsum($0, {e})", cumsum(x, d[0])),
    AMBIT_ROW("torch.cumprod($0, {e})", cumprod(x, d[0]), Fill::few, 256),
    AMBIT_ROW("flat(torch.cummax($0, {e}))", flat(cummax(x, d[0])), Fill::distinct),
    AMBIT_ROW("torch.cummin($0, {e})[0]", std::get<0>(cummin(x, d[0]))),
    AMBIT_ROW("torch.logcumsumexp($0, {e})", logcumsumexp(x, d[0]), Fill::few),
    AMBIT_ROW("torch.renorm($0, 2, {e}, 1.5)", renorm(x, 2, d[0], 1.5), Fill::few, 256),
    AMBIT_ROW("torch.diff($0, 1, {e})", diff(x, 1, d[0])),
    AMBIT_ROW("torch.diff($0, 2, {e})", diff(x, 2, d[0])),
    AMBIT_ROW("torch.trapezoid($0, dx=0.5, dim={e})", trapezoid(x, 0.5, d[0])),
    AMBIT_ROW("torch.cumulative_trapezoid($0, dim={e})", cumulative_trapezoid(x, 1, d[0])),
    AMBIT_ROW("torch.gradient($0, spacing=0.5, dim={e})[0]",
              gradient(x, std::optional<Scalar>(0.5), std::optional<int64_t>(d[0]))[0]),
    AMBIT_ROW("torch.norm_except_dim($0, 2, 0)", norm_except_dim(x, 2, 0), Fill::few, 256),
};

const std::vector<Row<Reduce>> kOrders{
    AMBIT_ROW("torch.sort($0, {e}, {k})[0]", std::get<0>(sort(x, d[0], keep)), Fill::distinct, 0),
    AMBIT_ROW("torch.sort($0.detach(), {e}, {k})[0]", std::get<0>(sort(x.detach(), d[0], keep)),
              Fill::special, 0),
    AMBIT_ROW("torch.sort($0, dim={e}, descending={k}, stable=True)[1]",
              std::get<1>(sort(x, std::optional<bool>(true), d[0], keep)), Fill::special, 0),
    AMBIT_ROW("torch.argsort($0, {e}, {k})", argsort(x, d[0], keep), Fill::distinct, 0),
    AMBIT_ROW("torch.msort($0)", msort(x), Fill::distinct, 0),
    AMBIT_ROW("flat(torch.topk($0, 2, {e}, {k}))", flat(topk(x, 2, d[0], keep)), Fill::distinct, 0),
    AMBIT_ROW("torch.topk($0.detach(), 1, {e}, {k})[0]",
              std::get<0>(topk(x.detach(), 1, d[0], keep)), Fill::special, 0),
    AMBIT_ROW("flat(torch.kthvalue($0, 2, {e}, {k}))", flat(kthvalue(x, 2, d[0], keep)),
              Fill::distinct, 0),
    AMBIT_ROW("torch.median($0) if $0.numel() else $0.sum()", x.numel() > 0 ? median(x) : sum(x),
              Fill::distinct, 0),
    AMBIT_ROW("torch.median($0.detach().contiguous(), {e}, {k})[0]",
              std::get<0>(median(x.detach(), d[0], keep)), Fill::special, 0),
    AMBIT_ROW("torch.nanmedian($0.detach().contiguous(), {e}, {k})[0]",
              std::get<0>(nanmedian(x.detach(), d[0], keep)), Fill::special, 0),
    AMBIT_ROW("torch.mode($0.detach(), {e}, {k})[0]", std::get<0>(mode(x.detach(), d[0], keep)),
              Fill::few, 0),
    AMBIT_ROW("torch.quantile($0, 0.25, {e}, {k})", quantile(x, 0.25, d[0], keep), Fill::distinct),
    AMBIT_ROW("torch.quantile($0, 0.75, {e}, {k}, interpolation='nearest')",
              quantile(x, 0.75, d[0], keep, "nearest"), Fill::distinct),
    AMBIT_ROW("torch.quantile($0, torch.tensor([0.125, 1.0], dtype=$0.dtype), {e}, {k}, "
              "interpolation='midpoint')",
              quantile(x, tensor({0.125, 1.0}, kFloat64).to(x.device(), x.dtype()), d[0], keep,
                       "midpoint"),
              Fill::distinct),
    AMBIT_ROW("torch.nanquantile($0.detach(), 0.5, {e}, {k}, interpolation='lower')",
              nanquantile(x.detach(), 0.5, d[0], keep, "lower"), Fill::special),
    AMBIT_ROW("flat(torch.unique($0.detach(), return_inverse=True, return_counts=True))",
              flat(_unique2(x.detach(), true, true, true)), Fill::few, 0),
    AMBIT_ROW("flat(torch.unique($0.detach(), dim={e}, return_inverse=True, return_counts=True))",
              flat(unique_dim(x.detach(), d[0], true, true, true)), Fill::few, 0),
    AMBIT_ROW(
        "flat(torch.unique_consecutive($0.detach(), return_inverse=True, return_counts=True))",
        flat(unique_consecutive(x.detach(), true, true)), Fill::few, 0),
    AMBIT_ROW(
        "flat(torch.unique_consecutive($0.detach(), return_counts=True, dim={e}))",
        [](const std::tuple<Tensor, Tensor, Tensor>& u) {
          return flat({std::get<0>(u), std::get<2>(u)});
        }(unique_consecutive(x.detach(), false, true, d[0])),
        Fill::few, 0),
    AMBIT_ROW("torch.searchsorted(torch.sort($0)[0].detach(), $0.detach(), right={k})",
              searchsorted(std::get<0>(sort(x)).detach(), x.detach(), false, keep), Fill::few, 0),
    AMBIT_ROW("torch.bucketize($0.detach(), torch.tensor([-1.0, 0.5, 2.0]), out_int32={k})",
              bucketize(x.detach(), tensor({-1.0, 0.5, 2.0}, kFloat32).to(x.device()), keep),
              Fill::few, 0),
    AMBIT_ROW("torch.histc($0.detach(), 4, -2, 2)", histc(x.detach(), 4, -2, 2), Fill::few, 0),
    AMBIT_ROW("torch.bincount($0.detach().abs().reshape(-1).long(), minlength=3)",
              bincount(x.detach().abs().reshape({-1}).to(kInt64), {}, 3), Fill::few, 0),
};
#undef AMBIT_ROW

void reduce(Generator& g, const std::vector<Row<Reduce>>& rows) {
  Random& r = g.random();
  const auto& row = r.choose(rows);
  const Sizes shape = g.small_sizes(0, 4);
  const auto ndim = static_cast<int64_t>(shape.size());
  Sizes d{g.dim_of(ndim)};
  if (r.one_in(3)) d.push_back(g.dim_of(ndim));
  const bool keep = r.one_in(2);
  const int x =
      row.fill == Fill::distinct ? g.operand(shape, row.fill) : any_operand(g, shape, row.fill);
  g.call(
      fmt::format(fmt::runtime(row.python), fmt::arg("d", list_text(d)), fmt::arg("e", d[0]),
                  fmt::arg("k", bool_text(keep))),
      {x}, [=, run = row.run](const Tensors& t) { return run(t[0], d, keep); }, row.roundings);
}

void reduction(Generator& g) { reduce(g, kReductions); }
void order(Generator& g) { reduce(g, kOrders); }

}  // namespace

const std::vector<Call> kNumberCalls{map, map, arithmetic, arithmetic, reduction, reduction, order};

}  // namespace fuzz
