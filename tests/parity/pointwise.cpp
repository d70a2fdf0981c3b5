// Special functions, pointwise functions of several tensors, and reductions other than sums.
#include "calls.h"

using namespace parity;

PARITY(special_unary) {
  using Unary = Tensor (*)(const Tensor&);
  const std::pair<const char*, Unary> maps[] = {
#define MAP(name)                                         \
  {                                                       \
#name, [](const Tensor& t) { return torch::name(t); } \
  }
      MAP(asinh),   MAP(atanh), MAP(erfc),     MAP(erfinv),   MAP(exp2),
      MAP(lgamma),  MAP(frac),  MAP(sinc),     MAP(deg2rad),  MAP(rad2deg),
      MAP(signbit), MAP(i0),    MAP(positive), MAP(absolute), MAP(negative),
#undef MAP
  };
  for (const auto& [name, map] : maps) {
    const auto call = [map = map](const List& a) { return map(a[0]); };
    // The libraries use different series and rational approximations.
    run({name, call, {x() * 0.9 + 0.05}, 64});
    report(name, map(empty_one()));
    report(name, map(no_dims()), 64);
    report(name, map(wave({5}) * 0.9 + 0.01), 64);
  }
  // libtorch's trigamma, digamma's gradient, is accurate only to 1e-9.
  report("digamma", torch::digamma(x() * 0.9 + 0.05), 64);
  report("acosh", torch::acosh(y() + 1), 64);
  report("corners of sinc", torch::sinc(torch::tensor({0.0, 1.0, HUGE_VAL}, torch::kDouble)), 64);
  report("corners of erfinv", torch::erfinv(torch::tensor({-1.0, 1.0, 0.0, 1.5}, torch::kDouble)));
  report("corners of lgamma", torch::lgamma(torch::tensor({0.0, -1.0, 1.0, 2.0}, torch::kDouble)));
  report("nan_to_num", torch::nan_to_num(corners()));
  report("nan_to_num given", torch::nan_to_num(corners(), 1.0, 2.0, -2.0));
  report("logit", torch::logit(x() * 0.4 + 0.5), 64);
  report("logit eps", torch::logit(torch::tensor({0.0, 0.5, 1.0}, torch::kDouble), 0.1), 64);
}

PARITY(pointwise_of_several) {
  const Call calls[] = {
      {"addcmul", OP(torch::addcmul(a[0], a[1], a[2], 0.5)), {x(), y(), x({3})}},
      {"addcdiv", OP(torch::addcdiv(a[0], a[1], a[2], 2)), {x(), x(), y({3})}},
      {"lerp", OP(torch::lerp(a[0], a[1], 0.3)), {x(), y()}},
      {"lerp weights", OP(torch::lerp(a[0], a[1], a[2])), {x(), y(), x({3})}},
      {"xlogy", OP(torch::xlogy(a[0], a[1])), {x(), y()}},
      {"xlogy of 0", OP(torch::xlogy(a[0].detach(), a[1].detach())), {x() * 0, x() * 0}},
      {"hypot", OP(torch::hypot(a[0], a[1])), {x(), y()}, 16},
      {"logaddexp", OP(torch::logaddexp(a[0], a[1])), {x(), y()}, 16},
      {"logaddexp2", OP(torch::logaddexp2(a[0], a[1])), {x(), y()}, 16},
      {"copysign", OP(torch::copysign(a[0], a[1])), {y(), x()}},
      {"heaviside", OP(torch::heaviside(a[0].detach(), a[1].detach())), {x(), y({3})}},
      {"gcd", OP(torch::gcd(a[0], a[1])), {integers(), integers({3}) + 6}},
      {"lcm", OP(torch::lcm(a[0], a[1])), {integers(), integers({3}) + 6}},
      {"fmax", OP(torch::fmax(a[0], a[1])), {x(), y() - 1.5}},
      {"fmin corners", OP(torch::fmin(a[0].detach(), a[0].detach().flip({0}))), {corners()}},
      {"float_power", OP(torch::float_power(a[0], a[1])), {y(), x()}, 16},
      {"ldexp", OP(torch::ldexp(a[0], a[1])), {x(), integers()}},
      {"clamp by tensors", OP(torch::clamp(a[0], a[1], a[2])), {x(), x({3}) - 0.5, y({3})}},
      {"clamp_max in place", OP((a[0] * 1).clamp_max_(0.2)), {x()}},
      {"bitwise shift", OP(torch::bitwise_left_shift(a[0] + 7, 2)), {integers()}},
      {"isclose", OP(torch::isclose(a[0], a[0] + 1e-9)), {x()}},
      {"nextafter", OP(torch::nextafter(a[0].detach(), a[1].detach())), {x(), y()}, 0},
      {"in place", OP((a[0] * 1).addcmul_(a[1], a[1]).sigmoid_()), {x(), x()}, 32},
      {"aliases",
       OP(torch::multiply(torch::subtract(a[0], a[1]), torch::true_divide(a[1], 3))),
       {x(), y()}},
  };
  for (const Call& call : calls) run(call);
  report("allclose", torch::allclose(x(), x() + 1e-9));
  report("equal", torch::equal(integers(), integers()));
}

PARITY(reductions) {
  const Call calls[] = {
      {"amax", OP(torch::amax(a[0], {1})), {x()}},
      {"amin of all", OP(torch::amin(a[0])), {x()}},
      {"amax of equals", OP(torch::amax(a[0], {0}, true)), {x() * 0 + 1}},
      {"aminmax", OP(std::get<1>(torch::aminmax(a[0].detach(), 0))), {x()}},
      {"nansum", OP(torch::nansum(a[0] / a[0])), {integers({4}).to(torch::kDouble)}},
      {"nanmean",
       OP(torch::nanmean(a[0].detach() / a[0].detach())),
       {integers({4}).to(torch::kDouble)}},
      {"std_mean", OP(std::get<0>(torch::std_mean(a[0], 1))), {x()}, 16},
      {"var_mean", OP(std::get<1>(torch::var_mean(a[0], 0))), {x({4, 2})}, 16},
      {"dist", OP(torch::dist(a[0], a[1])), {x(), y()}, 16},
      {"dist 1", OP(torch::dist(a[0], a[1], 1)), {x(), y()}, 16},
      {"count_nonzero", OP(torch::count_nonzero(a[0])), {integers()}},
      {"count_nonzero dim", OP(torch::count_nonzero(a[0], torch::IntArrayRef({1}))), {integers()}},
      {"norm inf", OP(torch::norm(a[0], HUGE_VAL)), {x()}},
      {"norm 3", OP(torch::norm(a[0], 3, 1)), {y()}, 32},
  };
  for (const Call& call : calls) run(call);
  parity::report_refusal("amax of none", [] { torch::amax(empty_one()); });
}
