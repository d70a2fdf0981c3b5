// Tables of further calls, one row each: of a tensor and a dim, of two tensors, of an index.
// reshaped_steps.cpp has calls on reshaped operands.
#include <ambit/ambit.h>
#include <fmt/format.h>

#include "generator.h"

namespace fuzz {

using namespace ambit;
namespace F = nn::functional;

namespace {

Tensor& slot(State& s, int i) { return s.slots[static_cast<size_t>(i)]; }

// Operands must not let roundings cause jumps (exact), or overflow, also in a gradient (small).
enum class Needs { usable, exact, small };

template <class Run>
struct Row {
  const char* python;  // {x}, {y}, {i}: tensors; {d}: a dim
  Run run;
  Needs needs;
  bool is_exact = false;  // exact operands give an exact result
};

// Sorted, or positions of the largest: equal elements may be in any order, so gradients are not
// compared.
using OfOne = Tensor (*)(const Tensor& x, int64_t d);
#define AMBIT_ROW(python, needs, is_exact, ...)                                                \
  {                                                                                            \
    python, [](const Tensor& x, [[maybe_unused]] int64_t d) -> Tensor { return __VA_ARGS__; }, \
        Needs::needs, is_exact                                                                 \
  }
const std::vector<Row<OfOne>> kOfOne{
    AMBIT_ROW("torch.amax({x}, {d})", exact, true, amax(x, d)),
    AMBIT_ROW("torch.amin({x}, [{d}], True)", exact, true, amin(x, {d}, true)),
    AMBIT_ROW("torch.aminmax({x}.detach(), dim={d})[1]", exact, true,
              std::get<1>(aminmax(x.detach(), d))),
    AMBIT_ROW("torch.nansum({x}, {d})", usable, true, nansum(x, d)),
    AMBIT_ROW("torch.norm({x}, 2, [{d}])", usable, false, norm(x, 2, {d})),
    AMBIT_ROW("torch.norm({x}, 1, [{d}], True)", usable, true, norm(x, 1, {d}, true)),
    AMBIT_ROW("torch.count_nonzero({x}, {d})", exact, true, count_nonzero(x, d)),
    AMBIT_ROW("torch.median({x}.detach().contiguous(), {d})[0]", exact, true,
              std::get<0>(median(x.detach(), d))),
    AMBIT_ROW("torch.sort({x}.detach(), {d})[0]", exact, true, std::get<0>(sort(x.detach(), d))),
    AMBIT_ROW("torch.sort({x}.detach(), {d}, True)[0]", exact, true,
              std::get<0>(sort(x.detach(), d, true))),
    AMBIT_ROW("torch.sort({x}, dim={d}, stable=True)[1]", exact, true,
              std::get<1>(sort(x, std::optional<bool>(true), d))),
    AMBIT_ROW("torch.topk({x}.detach(), 1, {d})[0]", exact, true,
              std::get<0>(topk(x.detach(), 1, d))),
    AMBIT_ROW("torch.kthvalue({x}.detach().contiguous(), 1, {d})[0]", exact, true,
              std::get<0>(kthvalue(x.detach(), 1, d))),
    AMBIT_ROW("torch.cumprod({x}, {d})", small, false, cumprod(x, d)),
    AMBIT_ROW("torch.cummax({x}, {d})[0]", exact, true, std::get<0>(cummax(x, d))),
    AMBIT_ROW("torch.cummin({x}, {d})[0]", exact, true, std::get<0>(cummin(x, d))),
    AMBIT_ROW("torch.logcumsumexp({x}, {d})", usable, false, logcumsumexp(x, d)),
    AMBIT_ROW("torch.diff({x}, 1, {d})", usable, true, diff(x, 1, d)),
    AMBIT_ROW("torch.trapezoid({x}, dim={d})", usable, true, trapezoid(x, 1, d)),
    AMBIT_ROW("torch.gradient({x}, dim={d})[0]", usable, true,
              gradient(x, std::optional<Scalar>(), std::optional<int64_t>(d))[0]),
    AMBIT_ROW("torch.flip({x}, [{d}])", usable, true, flip(x, {d})),
    AMBIT_ROW("torch.roll({x}, 1, {d})", usable, true, roll(x, 1, d)),
    AMBIT_ROW("torch.rot90({x})", usable, true, rot90(x)),
    AMBIT_ROW("torch.tril({x})", usable, true, tril(x)),
    AMBIT_ROW("torch.triu({x}, 1)", usable, true, triu(x, 1)),
    AMBIT_ROW("torch.diagonal({x})", usable, true, diagonal(x)),
    AMBIT_ROW("torch.diag_embed({x})", usable, true, diag_embed(x)),
    AMBIT_ROW("torch.repeat_interleave({x}, 2, {d})", usable, true, repeat_interleave(x, 2, d)),
    AMBIT_ROW("torch.tile({x}, [2])", usable, true, tile(x, {2})),
    AMBIT_ROW("{x}.unfold({d}, 2, 1)", usable, true, unfold(x, d, 2, 1)),
    AMBIT_ROW("torch.movedim({x}, 0, {d})", usable, true, movedim(x, 0, d)),
    AMBIT_ROW("torch.renorm({x}, 2, {d}, 1.5)", usable, false, renorm(x, 2, d, 1.5)),
    AMBIT_ROW("torch.nan_to_num({x}, 0.5, 3.0, -3.0)", exact, true, nan_to_num(x, 0.5, 3., -3.)),
    AMBIT_ROW("torch.frac({x})", exact, true, frac(x)),
    AMBIT_ROW("torch.sgn({x})", exact, true, sgn(x)),
    AMBIT_ROW("torch.isclose({x}, {x})", exact, true, isclose(x, x)),
    AMBIT_ROW("torch.special.entr({x})", exact, false, special::entr(x)),
    AMBIT_ROW("torch.special.i0e({x})", usable, false, special::i0e(x)),
    AMBIT_ROW("torch.special.i1e({x})", usable, false, special::i1e(x)),
    AMBIT_ROW("torch.special.erfcx({x})", small, false, special::erfcx(x)),
    AMBIT_ROW("torch.special.log_ndtr({x})", small, false, special::log_ndtr(x)),
    AMBIT_ROW("torch.special.ndtr({x})", usable, false, special::ndtr(x)),
    AMBIT_ROW("torch.sinc({x})", small, false, sinc(x)),
    AMBIT_ROW("torch.asinh({x})", usable, false, asinh(x)),
    AMBIT_ROW("F.silu({x})", usable, false, F::silu(x)),
    AMBIT_ROW("F.mish({x})", usable, false, F::mish(x)),
    AMBIT_ROW("F.elu({x})", usable, false, F::elu(x)),
    AMBIT_ROW("F.celu({x}, 2.0)", usable, false, F::celu(x, 2)),
    AMBIT_ROW("F.selu({x})", usable, false, F::selu(x)),
    AMBIT_ROW("F.softplus({x})", usable, false, F::softplus(x)),
    AMBIT_ROW("F.logsigmoid({x})", usable, false, F::logsigmoid(x)),
    AMBIT_ROW("F.softsign({x})", usable, false, F::softsign(x)),
    AMBIT_ROW("F.tanhshrink({x})", usable, false, F::tanhshrink(x)),
    AMBIT_ROW("F.leaky_relu({x}, 0.25)", exact, true, F::leaky_relu(x, 0.25)),
    AMBIT_ROW("F.hardtanh({x})", exact, true, F::hardtanh(x)),
    AMBIT_ROW("F.hardshrink({x})", exact, true, F::hardshrink(x)),
    AMBIT_ROW("softshrink({x})", exact, true, F::softshrink(x)),
    AMBIT_ROW("F.hardswish({x} * 1.125)", exact, false, F::hardswish(x * 1.125)),
    AMBIT_ROW("hardsigmoid({x})", exact, false, F::hardsigmoid(x)),
    AMBIT_ROW("F.relu6({x})", exact, true, F::relu6(x)),
    AMBIT_ROW("F.threshold({x}, 0.5, 1.5)", exact, true, F::threshold(x, 0.5, 1.5)),
    AMBIT_ROW("F.glu(torch.cat([{x}, {x}], {d}), {d})", usable, false, F::glu(cat({x, x}, d), d)),
};
#undef AMBIT_ROW

using OfTwo = Tensor (*)(const Tensor& x, const Tensor& y, int64_t d);
#define AMBIT_ROW(python, needs, is_exact, ...)                                      \
  {                                                                                  \
    python,                                                                          \
        [](const Tensor& x, const Tensor& y, [[maybe_unused]] int64_t d) -> Tensor { \
          return __VA_ARGS__;                                                        \
        },                                                                           \
        Needs::needs, is_exact                                                       \
  }
// Two tensors of one shape and dtype.
const std::vector<Row<OfTwo>> kOfTwo{
    AMBIT_ROW("torch.maximum({x}, {y})", exact, true, maximum(x, y)),
    AMBIT_ROW("torch.fmin({x}, {y})", exact, true, fmin(x, y)),
    AMBIT_ROW("torch.hypot({x}, {y})", exact, false, hypot(x, y)),
    AMBIT_ROW("torch.logaddexp({x}, {y})", usable, false, logaddexp(x, y)),
    AMBIT_ROW("torch.copysign({x}, {y})", exact, true, copysign(x, y)),
    AMBIT_ROW("torch.heaviside({x}.detach(), {y}.detach())", exact, true,
              heaviside(x.detach(), y.detach())),
    AMBIT_ROW("torch.lerp({x}, {y}, 0.25)", usable, true, lerp(x, y, 0.25)),
    AMBIT_ROW("torch.addcmul({x}, {y}, {y}, value=0.5)", small, true, addcmul(x, y, y, 0.5)),
    AMBIT_ROW("torch.where({x} > 0, {x}, {y})", exact, true, where(x > 0, x, y)),
    AMBIT_ROW("torch.clamp({x}, {y}, {y} + 1)", exact, true, clamp(x, y, y + 1)),
    AMBIT_ROW("torch.dist({x}, {y}, 1)", usable, true, dist(x, y, 1)),
    AMBIT_ROW("torch.rsub({x}, {y}, alpha=2)", usable, true, rsub(x, y, 2)),
    AMBIT_ROW("torch.outer({x}.reshape(-1), {y}.reshape(-1)[:3])", small, true,
              outer(x.reshape(-1), y.reshape(-1).slice(0, 0, 3))),
    AMBIT_ROW("torch.kron({x}.reshape(-1)[:3], {y})", small, true,
              kron(x.reshape(-1).slice(0, 0, 3), y)),
    AMBIT_ROW("torch.tensordot({x}.reshape(-1), {y}.reshape(-1), 1)", small, false,
              tensordot(x.reshape(-1), y.reshape(-1), {0}, {0})),
    AMBIT_ROW("torch.einsum('i,i->i', {x}.reshape(-1), {y}.reshape(-1))", small, true,
              einsum("i,i->i", {x.reshape(-1), y.reshape(-1)})),
    AMBIT_ROW("torch.stack([{x}, {y}], {d})", usable, true, stack({x, y}, d)),
    AMBIT_ROW("torch.hstack([{x}, {y}])", usable, true, hstack({x, y})),
    AMBIT_ROW("torch.dstack([{x}, {y}])", usable, true, dstack({x, y})),
    AMBIT_ROW("F.l1_loss({x}, {y})", exact, false, F::l1_loss(x, y)),
    AMBIT_ROW("F.smooth_l1_loss({x}, {y})", exact, false, F::smooth_l1_loss(x, y)),
    AMBIT_ROW("F.huber_loss({x}, {y}, delta=0.5)", exact, false,
              F::huber_loss(x, y, Reduction::mean, 0.5)),
    AMBIT_ROW("F.binary_cross_entropy_with_logits({x}, {y}.sigmoid())", usable, false,
              F::binary_cross_entropy_with_logits(x, y.sigmoid())),
    AMBIT_ROW("F.poisson_nll_loss({x}, {y})", small, false, F::poisson_nll_loss(x, y)),
    AMBIT_ROW("F.soft_margin_loss({x}, {y})", small, false, F::soft_margin_loss(x, y)),
    AMBIT_ROW("F.cosine_similarity({x} + 9, {y} - 9, {d})", small, false,
              F::cosine_similarity(x + 9, y - 9, d)),
};
#undef AMBIT_ROW

using Indexed = Tensor (*)(const Tensor& x, const Tensor& i, const Tensor& y, int64_t d);
#define AMBIT_ROW(python, needs, is_exact, ...)                                                 \
  {                                                                                             \
    python,                                                                                     \
        [](const Tensor& x, [[maybe_unused]] const Tensor& i, [[maybe_unused]] const Tensor& y, \
           [[maybe_unused]] int64_t d) -> Tensor { return __VA_ARGS__; },                       \
        Needs::needs, is_exact                                                                  \
  }
// An index and a source of one shape, with the number of dims of x.
const std::vector<Row<Indexed>> kIndexed{
    AMBIT_ROW("torch.scatter_reduce({x}, {d}, {i}, {y}, 'sum')", exact, true,
              scatter_reduce(x, d, i, y, "sum")),
    AMBIT_ROW("torch.scatter_reduce({x}, {d}, {i}, {y}, 'amax', include_self=False)", exact, true,
              scatter_reduce(x, d, i, y, "amax", false)),
    AMBIT_ROW("torch.scatter_reduce({x}, {d}, {i}, {y}, 'amin')", exact, true,
              scatter_reduce(x, d, i, y, "amin")),
    AMBIT_ROW("torch.scatter_reduce({x}.detach(), {d}, {i}, {y}.detach(), 'mean')", exact, false,
              scatter_reduce(x.detach(), d, i, y.detach(), "mean")),
    AMBIT_ROW("torch.take({x}, {i})", exact, true, take(x, i)),
    AMBIT_ROW("torch.take_along_dim({x}, {i}, {d})", exact, true, take_along_dim(x, i, d)),
    AMBIT_ROW("torch.index_add({x}, {d}, {i}.reshape(-1), {x}.index_select({d}, {i}.reshape(-1)))",
              exact, true, index_add(x, d, i.reshape(-1), x.index_select(d, i.reshape(-1)))),
    AMBIT_ROW("torch.index_fill({x}, {d}, {i}.reshape(-1), 2.0)", exact, true,
              index_fill(x, d, i.reshape(-1), 2.)),
    AMBIT_ROW("{x}.index_put(({i}.reshape(-1),), torch.ones((), dtype={x}.dtype), True)", exact,
              true,
              index_put(x, std::vector<std::optional<Tensor>>{i.reshape(-1)}, ones({}, x.options()),
                        true)),
    AMBIT_ROW("torch.searchsorted(torch.sort({x}.detach().reshape(-1))[0], {y}.detach())", exact,
              true, searchsorted(std::get<0>(sort(x.detach().reshape(-1))), y.detach())),
};
#undef AMBIT_ROW

std::string text_of(const char* python, int x, int y, int i, int64_t d) {
  return fmt::format(fmt::runtime(python), fmt::arg("x", slot_text(x)), fmt::arg("y", slot_text(y)),
                     fmt::arg("i", slot_text(i)), fmt::arg("d", d));
}

}  // namespace

Generator::Pick Generator::small() const {
  return [this, any = usable()](int i) {
    return any(i) && (!at(i).is_floating_point() || magnitudes(at(i)).most <= 4);
  };
}

Generator::Pick Generator::finite_floats(const Pick& among) const {
  return [this, among](int i) {
    return among(i) && at(i).is_floating_point() && all(isfinite(at(i))).item<bool>();
  };
}

void Generator::of_one() {
  const auto& row = random_.choose(kOfOne);
  const Pick fits = row.needs == Needs::exact   ? exact()
                    : row.needs == Needs::small ? small()
                                                : usable();
  // Gradients at NaN are not compared; other calls test those at infinity.
  const Pick finite = finite_floats(fits);
  const int x =
      pick([&](int i) { return (row.is_exact ? fits(i) : finite(i)) && at(i).numel() <= 256; },
           [&](int i) { return at(i).is_floating_point() && at(i).dim() > 1; });
  if (x < 0) return;
  const int64_t d = dim_of(at(x).dim());
  add(text_of(row.python, x, x, x, d), [=, run = row.run](State& s) { return run(slot(s, x), d); },
      row.is_exact ? Kind::exact : Kind::smooth, {x});
}

void Generator::of_two() {
  const auto& row = random_.choose(kOfTwo);
  const Pick fits = row.needs == Needs::exact   ? exact()
                    : row.needs == Needs::small ? small()
                                                : usable();
  const Pick of_floats = [&](int i) {
    return fits(i) && at(i).is_floating_point() && at(i).numel() <= 256;
  };
  const int x = pick(of_floats, nullptr);
  if (x < 0) return;
  const int y = pick(of_floats, [&](int i) {
    return at(i).sizes() == at(x).sizes() && at(i).dtype() == at(x).dtype();
  });
  // Losses broadcast in PyTorch, with a warning; ambit refuses that.
  if (y < 0 || at(y).sizes() != at(x).sizes() || at(y).dtype() != at(x).dtype()) return;
  const int64_t d = dim_of(at(x).dim());
  add(text_of(row.python, x, y, x, d),
      [=, run = row.run](State& s) { return run(slot(s, x), slot(s, y), d); },
      row.is_exact ? Kind::exact : Kind::smooth, {x, y});
}

void Generator::of_index() {
  const auto& row = random_.choose(kIndexed);
  const Pick precise = exact();
  const int x = pick(
      [&](int k) {
        return precise(k) && at(k).is_floating_point() && at(k).numel() > 0 && at(k).numel() <= 256;
      },
      [&](int k) { return at(k).dim() > 0; });
  if (x < 0 || at(x).dim() == 0) return;
  const int y = pick(precise, [&](int k) {
    return at(k).dtype() == at(x).dtype() && at(k).dim() == at(x).dim() && at(k).numel() > 0;
  });
  if (y < 0 || at(y).dtype() != at(x).dtype() || at(y).dim() != at(x).dim()) return;
  const int i = pick(of_dtype(kInt64), [&](int k) { return at(k).sizes() == at(y).sizes(); });
  if (i < 0 || at(i).dtype() != kInt64 || at(i).numel() == 0) return;
  const int64_t d = dim_of(at(x).dim());
  add(text_of(row.python, x, y, i, d),
      [=, run = row.run](State& s) { return run(slot(s, x), slot(s, i), slot(s, y), d); },
      row.is_exact ? Kind::exact : Kind::smooth, {x, i, y});
}

}  // namespace fuzz
