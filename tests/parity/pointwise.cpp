// Pointwise functions of several tensors.
#include "calls.h"

using namespace parity;

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
