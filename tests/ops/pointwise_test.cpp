// Pointwise functions beyond arithmetic: values, gradients, in place, bad calls.
#include <doctest/doctest.h>

#include "tests/autograd/gradcheck.h"
#include "tests/mismatch/mismatch_calls.h"
#include "tests/tables/agreement_calls.h"
#include "tests/tables/bad_calls.h"
#include "value_cases.h"

using namespace ambit;

namespace {

const std::vector<value_cases::Case>& cases() {
  using namespace value_cases;
  static const std::vector<Case> all{
      CASE(
          "torch.hypot(a, b)", hypot(in.a, in.b), kFloat64, (Dims{2, 3}),
          (Numbers{2.91547594742, 0.707106781187, 0, 2.01556443707, 3.16227766017, 3.71651718683})),
      CASE("torch.hypot(s, t)", hypot(in.s, in.t), kFloat64, (Dims{2, 3}),
           (Numbers{NAN, INFINITY, INFINITY, 0, 2, NAN})),
      CASE("torch.hypot(a, n)", hypot(in.a, in.n), kFloat64, (Dims{2, 3}),
           (Numbers{12.2576506721, 7.01783442381, 0, 5.00624609863, 64.0078120232, 4.60977222865})),
      CASE("torch.copysign(a, s)", copysign(in.a, in.s), kFloat64, (Dims{2, 3}),
           (Numbers{2.5, 0.5, -0, 0.25, -1, 3.5})),
      CASE("torch.copysign(s, b)", copysign(in.s, in.b), kFloat64, (Dims{2, 3}),
           (Numbers{NAN, -INFINITY, INFINITY, -0, 0, -1})),
      CASE("torch.copysign(n, m)", copysign(in.n, in.m), kFloat32, (Dims{2, 3}),
           (Numbers{12, 7, 0, -5, 64, 3})),
      CASE("torch.copysign(a, -0.0)", copysign(in.a, -0.0), kFloat64, (Dims{2, 3}),
           (Numbers{-2.5, -0.5, -0, -0.25, -1, -3.5})),
      CASE("torch.copysign(y, -1)", copysign(in.y, -1), kFloat32, (Dims{2, 3}),
           (Numbers{-1, -0, -1, -0, -0, -1})),
      CASE("torch.fmax(a, b)", fmax(in.a, in.b), kFloat64, (Dims{2, 3}),
           (Numbers{1.5, -0.5, 0, 0.25, 3, 3.5})),
      CASE("torch.fmax(s, t)", fmax(in.s, in.t), kFloat64, (Dims{2, 3}),
           (Numbers{1, INFINITY, INFINITY, 0, 2, 1})),
      CASE("torch.fmin(s, t)", fmin(in.s, in.t), kFloat64, (Dims{2, 3}),
           (Numbers{1, INFINITY, -INFINITY, 0, -0, 1})),
      CASE("torch.fmax(n, m)", fmax(in.n, in.m), kInt64, (Dims{2, 3}),
           (Numbers{18, 7, 4, 5, 64, 70})),
      CASE("torch.fmin(n, a)", fmin(in.n, in.a), kFloat64, (Dims{2, 3}),
           (Numbers{-12, -0.5, 0, 0.25, 1, -3})),
      CASE("torch.fmin(y, ~y)", fmin(in.y, ~in.y), kBool, (Dims{2, 3}),
           (Numbers{0, 0, 0, 0, 0, 0})),
      CASE("torch.nextafter(a, b)", nextafter(in.a, in.b), kFloat64, (Dims{2, 3}),
           (Numbers{-2.5, -0.5, 0, 0.25, 1, 3.5})),
      CASE("torch.nextafter(s, t)", nextafter(in.s, in.t), kFloat64, (Dims{2, 3}),
           (Numbers{NAN, NAN, -1.79769313486e+308, -0, 4.94065645841e-324, NAN})),
      CASE("torch.heaviside(a, b)", heaviside(in.a, in.b), kFloat64, (Dims{2, 3}),
           (Numbers{0, 0, 0, 1, 1, 1})),
      CASE("torch.heaviside(s, t)", heaviside(in.s, in.t), kFloat64, (Dims{2, 3}),
           (Numbers{0, 1, 0, -0, 2, 1})),
      CASE("torch.heaviside(n, m)", heaviside(in.n, in.m), kInt64, (Dims{2, 3}),
           (Numbers{0, 1, 4, 1, 1, 0})),
      CASE("torch.heaviside(y, ~y)", heaviside(in.y, ~in.y), kBool, (Dims{2, 3}),
           (Numbers{1, 1, 1, 1, 1, 1})),
      CASE("torch.xlogy(a, b)", xlogy(in.a, in.b), kFloat64, (Dims{2, 3}),
           (Numbers{-1.01366277027, NAN, 0, NAN, 1.09861228867, NAN})),
      CASE("torch.xlogy(s, t)", xlogy(in.s, in.t), kFloat64, (Dims{2, 3}),
           (Numbers{NAN, NAN, -INFINITY, 0, 0, NAN})),
      CASE("torch.xlogy(n, m)", xlogy(in.n, in.m), kFloat32, (Dims{2, 3}),
           (Numbers{-34.684463501, -INFINITY, 0, NAN, 70.3111877441, -12.7454853058})),
      CASE("torch.xlogy(2, u)", xlogy(2, in.u), kFloat64, (Dims{2, 3}),
           (Numbers{-4.60517018599, -0.210721031316, -1.38629436112, -2.40794560865,
                    -0.713349887877, -3.21887582487})),
      CASE("torch.xlogy(a, 3)", xlogy(in.a, 3), kFloat64, (Dims{2, 3}),
           (Numbers{-2.74653072167, -0.549306144334, 0, 0.274653072167, 1.09861228867,
                    3.84514301034})),
      CASE("torch.xlogy(a, 0)", xlogy(in.a, 0), kFloat64, (Dims{2, 3}),
           (Numbers{INFINITY, INFINITY, 0, -INFINITY, -INFINITY, -INFINITY})),
      CASE("torch.logaddexp(a, b)", logaddexp(in.a, in.b), kFloat64, (Dims{2, 3}),
           (Numbers{1.51814992792, 0.19314718056, 0.69314718056, 0.350206558917, 3.12692801104,
                    3.50861448376})),
      CASE("torch.logaddexp(s, t)", logaddexp(in.s, in.t), kFloat64, (Dims{2, 3}),
           (Numbers{NAN, NAN, INFINITY, 0.69314718056, 2.12692801104, NAN})),
      CASE("torch.logaddexp(a * 400, b * 400)", logaddexp(in.a * 400, in.b * 400), kFloat64,
           (Dims{2, 3}), (Numbers{600, -199.306852819, 0.69314718056, 100, 1200, 1400})),
      CASE("torch.logaddexp2(a, b)", logaddexp2(in.a, in.b), kFloat64, (Dims{2, 3}),
           (Numbers{1.58746284125, 0.5, 1, 0.525274223966, 3.32192809489, 3.55264225896})),
      CASE("torch.logaddexp2(s, t)", logaddexp2(in.s, in.t), kFloat64, (Dims{2, 3}),
           (Numbers{NAN, NAN, INFINITY, 1, 2.32192809489, NAN})),
      CASE("torch.ldexp(a, n)", ldexp(in.a, in.n), kFloat64, (Dims{2, 3}),
           (Numbers{-0.0006103515625, -64, 0, 8, 1.84467440737e+19, 0.4375})),
      CASE("torch.ldexp(u, m // 10)", ldexp(in.u, div(in.m, 10, "floor")), kFloat64, (Dims{2, 3}),
           (Numbers{0.2, 0.9, 0.5, 0.15, 0.7, 25.6})),
      CASE("torch.float_power(n, 3)", float_power(in.n, 3), kFloat64, (Dims{2, 3}),
           (Numbers{-1728, 343, 0, 125, 262144, -27})),
      CASE("torch.float_power(a, m)", float_power(in.a, in.m), kFloat64, (Dims{2, 3}),
           (Numbers{14551915.2284, 1, 0, 16, 1, 1.21552278613e+38})),
      CASE("torch.float_power(2, n)", float_power(2, in.n), kFloat64, (Dims{2, 3}),
           (Numbers{0.000244140625, 128, 1, 32, 1.84467440737e+19, 0.125})),
      CASE("torch.float_power(u, a)", float_power(in.u, in.a), kFloat64, (Dims{2, 3}),
           (Numbers{316.227766017, 1.05409255339, 1, 0.740082804492, 0.7, 0.003577708764})),
      CASE("torch.gcd(n, m)", gcd(in.n, in.m), kInt64, (Dims{2, 3}), (Numbers{6, 7, 4, 1, 1, 1})),
      CASE("torch.lcm(n, m)", lcm(in.n, in.m), kInt64, (Dims{2, 3}),
           (Numbers{36, 0, 0, 10, 192, 210})),
      CASE("torch.gcd(n.to(torch.int8), m.to(torch.uint8))", gcd(in.n.to(kInt8), in.m.to(kUInt8)),
           kInt16, (Dims{2, 3}), (Numbers{6, 7, 4, 1, 1, 1})),
      CASE("torch.lcm(torch.tensor([100, -128, 6], dtype=torch.int8), torch.tensor([99, 3, -4], "
           "dtype=torch.int8))",
           lcm(tensor({100, -128, 6}, kInt8).to(in.n.device()),
               tensor({99, 3, -4}, kInt8).to(in.n.device())),
           kInt8, (Dims{3}), (Numbers{-84, -128, 12})),
      CASE("torch.bitwise_left_shift(n, torch.tensor([3, 0, 5]))",
           bitwise_left_shift(in.n, tensor({3, 0, 5}, in.n.device())), kInt64, (Dims{2, 3}),
           (Numbers{-96, 7, 0, 40, 64, -96})),
      CASE("torch.bitwise_left_shift(n.to(torch.int8), 5)", bitwise_left_shift(in.n.to(kInt8), 5),
           kInt8, (Dims{2, 3}), (Numbers{-128, -32, 0, -96, 0, -96})),
      CASE("torch.bitwise_left_shift(n.to(torch.int8), 9)", bitwise_left_shift(in.n.to(kInt8), 9),
           kInt8, (Dims{2, 3}), (Numbers{0, 0, 0, 0, 0, 0})),
      CASE("torch.bitwise_right_shift(n, torch.tensor([3, 0, 1]))",
           bitwise_right_shift(in.n, tensor({3, 0, 1}, in.n.device())), kInt64, (Dims{2, 3}),
           (Numbers{-2, 7, 0, 0, 64, -2})),
      CASE("torch.bitwise_right_shift(n.to(torch.int8), 9)", bitwise_right_shift(in.n.to(kInt8), 9),
           kInt8, (Dims{2, 3}), (Numbers{-1, 0, 0, 0, 0, -1})),
      CASE("torch.bitwise_left_shift(3, torch.tensor([3, 0, 5], dtype=torch.int16))",
           bitwise_left_shift(3, tensor({3, 0, 5}, kInt16).to(in.n.device())), kInt16, (Dims{3}),
           (Numbers{24, 3, 96})),
      CASE("torch.bitwise_right_shift(-300, torch.tensor([3, 0, 5]))",
           bitwise_right_shift(-300, tensor({3, 0, 5}, in.n.device())), kInt64, (Dims{3}),
           (Numbers{-38, -300, -10})),
      CASE("torch.bitwise_and(6, n)", bitwise_and(6, in.n), kInt64, (Dims{2, 3}),
           (Numbers{4, 6, 0, 4, 0, 4})),
      CASE("torch.bitwise_or(True, n)", bitwise_or(true, in.n), kInt64, (Dims{2, 3}),
           (Numbers{-11, 7, 1, 5, 65, -3})),
      CASE("torch.bitwise_xor(5, n)", bitwise_xor(5, in.n), kInt64, (Dims{2, 3}),
           (Numbers{-15, 2, 5, 0, 69, -8})),
      CASE("torch.remainder(7, n + 13)", remainder(7, in.n + 13), kInt64, (Dims{2, 3}),
           (Numbers{0, 7, 7, 7, 7, 7})),
      CASE("torch.remainder(7.5, n + 13)", remainder(7.5, in.n + 13), kFloat32, (Dims{2, 3}),
           (Numbers{0.5, 7.5, 7.5, 7.5, 7.5, 7.5})),
      CASE("torch.div(n, 4, rounding_mode=\"floor\")", div(in.n, 4, "floor"), kInt64, (Dims{2, 3}),
           (Numbers{-3, 1, 0, 1, 16, -1})),
      CASE("torch.div(n, 4, rounding_mode=\"trunc\")", div(in.n, 4, "trunc"), kInt64, (Dims{2, 3}),
           (Numbers{-3, 1, 0, 1, 16, 0})),
      CASE("torch.div(a, b, rounding_mode=\"trunc\")", div(in.a, in.b, "trunc"), kFloat64,
           (Dims{2, 3}), (Numbers{-1, 1, NAN, -0, 0, -2})),
      CASE("torch.div(n, 4, rounding_mode=None)", div(in.n, 4, std::nullopt), kFloat32,
           (Dims{2, 3}), (Numbers{-3, 1.75, 0, 1.25, 16, -0.75})),
      CASE("torch.div(a, 0.4, rounding_mode=\"floor\")", div(in.a, 0.4, std::string("floor")),
           kFloat64, (Dims{2, 3}), (Numbers{-7, -2, 0, 0, 2, 8})),
      CASE("torch.tensor([5, 7], dtype=torch.uint8) // -1",
           floor_divide(tensor({5, 7}, kUInt8).to(in.n.device()), -1), kUInt8, (Dims{2}),
           (Numbers{0, 0})),
      CASE("torch.tensor([5, 7], dtype=torch.int8) // 300",
           floor_divide(tensor({5, 7}, kInt8).to(in.n.device()), 300), kInt8, (Dims{2}),
           (Numbers{0, 0})),
      CASE("torch.clamp(a, b, b + 1)", clamp(in.a, in.b, in.b + 1), kFloat64, (Dims{2, 3}),
           (Numbers{1.5, -0.5, 0, -1, 3, -0.25})),
      CASE("torch.clamp(s, t)", clamp(in.s, in.t), kFloat64, (Dims{2, 3}),
           (Numbers{NAN, NAN, INFINITY, 0, 2, NAN})),
      CASE("torch.clamp(t, max=s)", clamp(in.t, std::nullopt, in.s), kFloat64, (Dims{2, 3}),
           (Numbers{NAN, NAN, -INFINITY, -0, -0, NAN})),
      CASE("torch.clamp(n, b)", clamp(in.n, in.b), kFloat64, (Dims{2, 3}),
           (Numbers{1.5, 7, 0, 5, 64, -1.25})),
      CASE("torch.clamp(n, m, m - 3)", clamp(in.n, in.m, in.m - 3), kInt64, (Dims{2, 3}),
           (Numbers{15, -3, 1, -5, 0, 67})),
      CASE("torch.clamp(a, torch.tensor([0., 1., 2.]))",
           clamp(in.a, tensor({0., 1., 2.}).to(in.a.device())), kFloat64, (Dims{2, 3}),
           (Numbers{0, 1, 2, 0.25, 1, 3.5})),
      CASE("torch.clamp_min(n, 3.5)", clamp_min(in.n, 3.5), kFloat32, (Dims{2, 3}),
           (Numbers{3.5, 7, 3.5, 5, 64, 3.5})),
      CASE("torch.clamp_min(a, b)", clamp_min(in.a, in.b), kFloat64, (Dims{2, 3}),
           (Numbers{1.5, -0.5, 0, 0.25, 3, 3.5})),
      CASE("torch.clamp_max(n, 3)", clamp_max(in.n, 3), kInt64, (Dims{2, 3}),
           (Numbers{-12, 3, 0, 3, 3, -3})),
      CASE("torch.clamp_max(a, b)", clamp_max(in.a, in.b), kFloat64, (Dims{2, 3}),
           (Numbers{-2.5, -0.5, 0, -2, 1, -1.25})),
      CASE("torch.clip(a, -1, 1)", clip(in.a, -1, 1), kFloat64, (Dims{2, 3}),
           (Numbers{-1, -0.5, 0, 0.25, 1, 1})),
      CASE("torch.addcmul(a, b, u, value=0.5)", addcmul(in.a, in.b, in.u, 0.5), kFloat64,
           (Dims{2, 3}), (Numbers{-2.425, -0.725, 0, -0.05, 2.05, 3.375})),
      CASE("torch.addcmul(n, m, n, value=2.7)", addcmul(in.n, in.m, in.n, 2.7), kInt64,
           (Dims{2, 3}), (Numbers{-444, 7, 0, -15, 448, -423})),
      CASE("torch.addcmul(n, a, m)", addcmul(in.n, in.a, in.m), kFloat64, (Dims{2, 3}),
           (Numbers{-57, 7, 0, 4.5, 67, 242})),
      CASE("torch.addcdiv(a, b, u, value=-2)", addcdiv(in.a, in.b, in.u, -2), kFloat64,
           (Dims{2, 3}), (Numbers{-32.5, 0.611111111111, 0, 13.5833333333, -7.57142857143, 16})),
      CASE("torch.addcdiv(a, m, u)", addcdiv(in.a, in.m, in.u), kFloat64, (Dims{2, 3}),
           (Numbers{177.5, -0.5, 8, -6.41666666667, 5.28571428571, 353.5})),
      CASE("torch.lerp(a, b, 0.3)", lerp(in.a, in.b, 0.3), kFloat64, (Dims{2, 3}),
           (Numbers{-1.3, -0.5, 0, -0.425, 1.6, 2.075})),
      CASE("torch.lerp(a, b, 0.75)", lerp(in.a, in.b, 0.75), kFloat64, (Dims{2, 3}),
           (Numbers{0.5, -0.5, 0, -1.4375, 2.5, -0.0625})),
      CASE("torch.lerp(a, b, u)", lerp(in.a, in.b, in.u), kFloat64, (Dims{2, 3}),
           (Numbers{-2.1, -0.5, 0, -0.425, 2.4, 2.55})),
      CASE("torch.lerp(a, b, 1)", lerp(in.a, in.b, 1), kFloat64, (Dims{2, 3}),
           (Numbers{1.5, -0.5, 0, -2, 3, -1.25})),
      CASE("torch.lerp(a, b, b)", lerp(in.a, in.b, in.b), kFloat64, (Dims{2, 3}),
           (Numbers{3.5, -0.5, 0, 4.75, 7, 9.4375})),
      CASE("torch.lerp(a, b[0], z)", lerp(in.a, in.b[0], in.z), kFloat64, (Dims{2, 3}),
           (Numbers{7.5, -0.5, 0, 3.375, -2.75, -5.25})),
      CASE("torch.round(a * 1.2345, decimals=2)", round(in.a * 1.2345, 2), kFloat64, (Dims{2, 3}),
           (Numbers{-3.09, -0.62, 0, 0.31, 1.23, 4.32})),
      CASE("torch.round(a * 123.45, decimals=-1)", round(in.a * 123.45, -1), kFloat64, (Dims{2, 3}),
           (Numbers{-310, -60, 0, 30, 120, 430})),
      CASE("torch.nan_to_num(s)", nan_to_num(in.s), kFloat64, (Dims{2, 3}),
           (Numbers{0, 1.79769313486e+308, -1.79769313486e+308, 0, -0, 1})),
      CASE("torch.nan_to_num(s, 1, 2, -3)", nan_to_num(in.s, 1, 2, -3), kFloat64, (Dims{2, 3}),
           (Numbers{1, 2, -3, 0, -0, 1})),
      CASE("torch.nan_to_num(s.float())", nan_to_num(in.s.to(kFloat32)), kFloat32, (Dims{2, 3}),
           (Numbers{0, 3.40282346639e+38, -3.40282346639e+38, 0, -0, 1})),
      CASE("torch.nan_to_num(n)", nan_to_num(in.n), kInt64, (Dims{2, 3}),
           (Numbers{-12, 7, 0, 5, 64, -3})),
      CASE("torch.signbit(s)", signbit(in.s), kBool, (Dims{2, 3}), (Numbers{0, 0, 1, 0, 1, 0})),
      CASE("torch.signbit(n)", signbit(in.n), kBool, (Dims{2, 3}), (Numbers{1, 0, 0, 0, 0, 1})),
      CASE("torch.signbit(y)", signbit(in.y), kBool, (Dims{2, 3}), (Numbers{0, 0, 0, 0, 0, 0})),
      CASE("torch.isposinf(s)", isposinf(in.s), kBool, (Dims{2, 3}), (Numbers{0, 1, 0, 0, 0, 0})),
      CASE("torch.isneginf(s)", isneginf(in.s), kBool, (Dims{2, 3}), (Numbers{0, 0, 1, 0, 0, 0})),
      CASE("torch.isposinf(n)", isposinf(in.n), kBool, (Dims{2, 3}), (Numbers{0, 0, 0, 0, 0, 0})),
      CASE("torch.isneginf(y)", isneginf(in.y), kBool, (Dims{2, 3}), (Numbers{0, 0, 0, 0, 0, 0})),
      CASE("torch.isreal(y)", isreal(in.y), kBool, (Dims{2, 3}), (Numbers{1, 1, 1, 1, 1, 1})),
      CASE("torch.positive(n)", positive(in.n), kInt64, (Dims{2, 3}),
           (Numbers{-12, 7, 0, 5, 64, -3})),
      CASE("torch.where(y, 1, 2.5)", where(in.y, 1, 2.5), kFloat32, (Dims{2, 3}),
           (Numbers{1, 2.5, 1, 2.5, 2.5, 1})),
      CASE("torch.where(y, 1, 2)", where(in.y, 1, 2), kInt64, (Dims{2, 3}),
           (Numbers{1, 2, 1, 2, 2, 1})),
      CASE("torch.frac(s)", frac(in.s), kFloat64, (Dims{2, 3}), (Numbers{NAN, NAN, NAN, 0, 0, 0})),
  };
  return all;
}

using Tensors = std::vector<Tensor>;

struct Smooth {
  const char* name;
  Tensor (*f)(const Tensors& in);
  int64_t operands = 2;
};

// Smooth where the operands are as below: in [1.2, 2.8], and no two the same.
const std::vector<Smooth>& smooth_functions() {
#define SMOOTH(text, ...)                                         \
  {                                                               \
    text, [](const Tensors& in) -> Tensor { return __VA_ARGS__; } \
  }
  static const std::vector<Smooth> all{
      SMOOTH("hypot", hypot(in[0], in[1])),
      SMOOTH("hypot, broadcast", hypot(in[0], in[1][0])),
      SMOOTH("copysign", copysign(in[0], in[1] - 2)),
      SMOOTH("copysign, number", copysign(in[0], -3)),
      SMOOTH("fmax", fmax(in[0], in[1])),
      SMOOTH("fmin", fmin(in[0], in[1])),
      SMOOTH("xlogy", xlogy(in[0], in[1])),
      SMOOTH("xlogy, number", xlogy(in[0], 3) + xlogy(3, in[1])),
      SMOOTH("logaddexp", logaddexp(in[0], in[1])),
      SMOOTH("logaddexp2", logaddexp2(in[0], in[1])),
      SMOOTH("ldexp", ldexp(in[0], in[1])),
      SMOOTH("float_power", float_power(in[0], in[1]) + float_power(2, in[1])),
      SMOOTH("clamp", clamp(in[0], in[1] - 0.1, in[1] + 0.1)),
      SMOOTH("clamp, max below min", clamp(in[0], in[1] + 0.1, in[1] - 0.1)),
      SMOOTH("clamp_min", clamp_min(in[0], in[1][1])),
      SMOOTH("clamp_max", clamp_max(in[0], in[1])),
      SMOOTH("addcmul", addcmul(in[0], in[1], in[0], 0.7)),
      SMOOTH("addcdiv", addcdiv(in[0], in[1], in[0], 0.7)),
      SMOOTH("lerp", lerp(in[0], in[1], 0.3) + lerp(in[0], in[1], 0.8)),
      SMOOTH("lerp, tensor", lerp(in[0], in[1], in[0] * 0.3)),
      SMOOTH("nan_to_num", nan_to_num(in[0] / 1)),
      SMOOTH("round", round(in[0], 1) + in[1]),
      SMOOTH("remainder", remainder(7.3, in[0])),
      SMOOTH("div", div(in[0], 0.37, "trunc") + in[1]),
      SMOOTH("clamp_", (in[0] * 1).clamp_(in[1] - 0.1, in[1] + 0.1)),
      SMOOTH("hypot_", (in[0] * 1).hypot_(in[1])),
      SMOOTH("copysign_", (in[0] * 1).copysign_(in[1] - 2)),
      SMOOTH("xlogy_", (in[0] * 1).xlogy_(in[1])),
      SMOOTH("addcmul_", (in[0] * 1).addcmul_(in[1], in[1], 0.7)),
      SMOOTH("addcdiv_", (in[0] * 1).addcdiv_(in[1], in[0], 0.7)),
      SMOOTH("lerp_", (in[0] * 1).lerp_(in[1], 0.8).lerp_(in[1], in[0] * 0.3)),
      SMOOTH("nan_to_num_", (in[0] * in[1]).nan_to_num_()),
      SMOOTH("ldexp_", (in[0] * 1).ldexp_(in[1])),
      SMOOTH("float_power_", (in[0] * 1).float_power_(in[1])),
  };
#undef SMOOTH
  return all;
}

}  // namespace

TEST_CASE("pointwise functions have PyTorch's values and dtypes") {
  value_cases::check_cases(cases());
}

TEST_CASE("pointwise functions have right first and second gradients") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {2, 3}, 0.7) * 0.8 + 2, w = wave(d, {2, 3}, 1.1) * 0.7 + 2.05;
    for (const Smooth& s : smooth_functions()) {
      INFO(std::string(s.name));
      const auto f = [&s](const Tensors& in) { return s.f(in) + in[1].mean(); };  // of both
      gradcheck(f, {x, w});
      gradgradcheck(f, {x, w});
    }
  });
}

TEST_CASE("gradients are PyTorch's where a function bends or has no slope") {
  for_each_device([](Device d) {
    const auto on = [&](const TensorData& values) {
      return tensor(values, TensorOptions(kFloat64).device(d)).requires_grad_();
    };
    struct Bend {
      const char* name;
      Tensor (*f)(const Tensor& x, const Tensor& y);
      std::vector<double> dx, dy;
    };
    // f(x, y).sum().backward() with x = [0., 1., 2., nan], y = [0., 1., 1., 1.]
    const std::vector<Bend> bends{
        {"fmax",
         [](const Tensor& x, const Tensor& y) { return fmax(x, y); },
         {1, 1, 1, 0},
         {0, 0, 0, 1}},
        {"fmin",
         [](const Tensor& x, const Tensor& y) { return fmin(x, y); },
         {1, 1, 0, 0},
         {0, 0, 1, 1}},
        {"copysign",
         [](const Tensor& x, const Tensor& y) { return copysign(x, y - 0.5); },
         {0, 1, 1, NAN},
         {0, 0, 0, 0}},
        {"clamp",
         [](const Tensor& x, const Tensor& y) { return clamp(x, y, y); },
         {1, 1, 0, 0},
         {0, 0, 1, 0}},
        {"nan_to_num",
         [](const Tensor& x, const Tensor& y) { return nan_to_num(x) * (y * 0 + 1); },
         {1, 1, 1, 0},
         {0, 0, 0, 0}},
    };
    for (const Bend& bend : bends) {
      INFO(std::string(bend.name));
      const Tensor x = on({0., 1., 2., NAN}), y = on({0., 1., 1., 1.});
      bend.f(x, y).sum().backward();
      check_values(x.grad(), {4}, bend.dx);
      check_values(y.grad(), {4}, bend.dy);
    }
    // torch.xlogy(x, y): 0 log(0) is constant in x
    const Tensor x = on({0., 0., 2.}), y = on({0., 3., 0.5});
    xlogy(x, y).sum().backward();
    check_values(x.grad(), {3}, {0, 1.09861228867, -0.69314718056});
    check_values(y.grad(), {3}, {NAN, 0, 4});
  });
}

TEST_CASE("addcmul and addcdiv of many elements are those of each") {
  manual_seed(1);
  for_each_device([](Device d) {
    const int64_t n = 300'001;  // more than a part, and no whole number of them
    const TensorOptions options = TensorOptions(kFloat64).device(d);
    const Tensor all = randn({n + 1}, options);
    const Tensor a = all.narrow(0, 1, n), b = randn({n}, options), c = rand({n}, options) + 0.5;
    const Tensor sum = a + b * c * 0.5, quotient = a - b / c;
    // Three roundings of numbers below 100.
    const auto close = [](const Tensor& x, const Tensor& y) {
      return x.cpu().allclose(y.cpu(), 0, 1e-13);
    };
    CHECK(close(addcmul(a, b, c, 0.5), sum));
    CHECK(close(addcdiv(a, b, c, -1), quotient));
    CHECK(close(a.clone().addcmul_(b, c, 0.5), sum));
    CHECK(close(a.clone().addcdiv_(b, c, -1), quotient));
    const Tensor self = a.clone();
    const int64_t version = self._version();
    CHECK(close(self.addcmul_(self, self), a + a * a));
    CHECK(self._version() == version + 1);
    // An input that overlaps self, a place beside it, is read before self is written.
    const Tensor moved = all.clone(), next = moved.narrow(0, 0, n);
    CHECK(close(moved.narrow(0, 1, n).addcmul_(next, c), a + all.narrow(0, 0, n) * c));
    CHECK_THROWS_AS(ones({n}, d).requires_grad_().addcmul_(ones({n}, d), ones({n}, d)),
                    AutogradError);
    const Tensor x = a.clone().requires_grad_();
    addcmul(x, x, c).sum().backward();
    CHECK(close(x.grad(), 1 + c));
  });
}

TEST_CASE("in place the result takes self's place, and what does not fit is refused untouched") {
  for_each_device([](Device d) {
    const value_cases::Inputs in(d);
    const auto same = [&](const Tensor& start, auto&& write, const Tensor& expected) {
      const Tensor x = start.clone();
      const void* before = x.data_ptr();
      Tensor& back = write(x);
      CHECK(back.is_same(x));
      CHECK(x.data_ptr() == before);
      CHECK(x.allclose(expected.to(x.dtype()), 0, 0, true));
    };
#define SAME(start, call, expected) \
  same(                             \
      start, [&](const Tensor& x) -> Tensor& { return x.call; }, expected)
    SAME(in.a, hypot_(in.b), hypot(in.a, in.b));
    SAME(in.a, nextafter_(in.b), nextafter(in.a, in.b));
    SAME(in.a, heaviside_(in.b), heaviside(in.a, in.b));
    SAME(in.a, copysign_(in.b), copysign(in.a, in.b));
    SAME(in.a, copysign_(-1), copysign(in.a, -1));
    SAME(in.a, xlogy_(in.b), xlogy(in.a, in.b));
    SAME(in.a, xlogy_(3), xlogy(in.a, 3));
    SAME(in.a, float_power_(2), float_power(in.a, 2));
    SAME(in.a, float_power_(in.n), float_power(in.a, in.n));
    SAME(in.a, ldexp_(in.n), ldexp(in.a, in.n));
    SAME(in.n, gcd_(in.m), gcd(in.n, in.m));
    SAME(in.n, lcm_(in.m), lcm(in.n, in.m));
    SAME(in.n, bitwise_left_shift_(3), bitwise_left_shift(in.n, 3));
    SAME(in.n, bitwise_right_shift_(in.m), bitwise_right_shift(in.n, in.m));
    SAME(in.n, div_(4, "floor"), div(in.n, 4, "floor"));
    SAME(in.n, div_(in.m + 5, "trunc"), div(in.n, in.m + 5, "trunc"));
    SAME(in.a, div_(in.u, std::nullopt), in.a / in.u);
    SAME(in.a, clamp_(in.b, in.b + 1), clamp(in.a, in.b, in.b + 1));
    SAME(in.a, clamp_min_(0.5), clamp_min(in.a, 0.5));
    SAME(in.a, clamp_min_(in.b), clamp_min(in.a, in.b));
    SAME(in.a, clamp_max_(0.5), clamp_max(in.a, 0.5));
    SAME(in.a, clamp_max_(in.b), clamp_max(in.a, in.b));
    SAME(in.a, addcmul_(in.b, in.u, 0.5), addcmul(in.a, in.b, in.u, 0.5));
    SAME(in.n, addcmul_(in.m, in.m, 2), addcmul(in.n, in.m, in.m, 2));
    SAME(in.a, addcdiv_(in.b, in.u, 0.5), addcdiv(in.a, in.b, in.u, 0.5));
    SAME(in.a, lerp_(in.b, 0.9), lerp(in.a, in.b, 0.9));
    SAME(in.a, lerp_(in.b, in.u), lerp(in.a, in.b, in.u));
    SAME(in.a * 1.2345, round_(2), round(in.a * 1.2345, 2));
    SAME(in.s, nan_to_num_(1.0), nan_to_num(in.s, 1.0));
    SAME(in.n, nan_to_num_(), in.n);
    SAME(in.n, operator&=(in.m), in.n & in.m);
    SAME(in.n, operator|=(in.m), in.n | in.m);
    SAME(in.n, operator^=(in.m), in.n ^ in.m);
    SAME(in.a, hypot_(in.b[0]), hypot(in.a, in.b[0]));
#undef SAME
    const Tensor n = in.n.clone();
    CHECK_THROWS_AS(n.copysign_(in.a), DTypeError);
    CHECK_THROWS_AS(n.xlogy_(2), DTypeError);
    CHECK_THROWS_AS(n.ldexp_(in.m), DTypeError);
    CHECK_THROWS_AS(n.clamp_(in.a), DTypeError);
    CHECK_THROWS_AS(n.addcmul_(in.a, in.b), DTypeError);
    CHECK_THROWS_AS(n.div_(2.5, "floor"), DTypeError);
    CHECK_THROWS_AS(n.div_(2, std::nullopt), DTypeError);
    const auto divide = [&] {
      n.div_(0, "trunc");
      static_cast<void>(n.cpu());  // what is late waits
    };
    CHECK_THROWS_AS(divide(), Error);
    CHECK_THROWS_AS(n.clamp_(in.m[0].reshape({3, 1})), ShapeError);
    CHECK_THROWS_AS(in.a.to(kFloat32).float_power_(2), DTypeError);
    CHECK(n.equal(in.n));
  });
}

// PyTorch 1.13: RuntimeError ZeroDivisionError, for uint8 holds 256 as 0.
TEST_CASE("a divisor that wraps around to 0 is one") {
  for_each_device([](Device d) {
    const Tensor x = tensor({5, 7}, kUInt8).to(d);
    const auto divide = [&] { return floor_divide(x, 256).cpu(); };  // what is late waits
    CHECK_THROWS_AS(divide(), Error);
    CHECK(floor_divide(x, 257).equal(x));
  });
}

TEST_CASE("shifts by more than the bits leave what a shift at a time would") {
  for_each_device([](Device d) {
    const Tensor x = tensor({1, -1, 100}, kInt8).to(d);
    for (const int64_t places : {8, 64, 256, -1}) {
      INFO(places);
      const Tensor by = full({3}, Scalar(places), TensorOptions(kInt64).device(d));
      check_values(bitwise_left_shift(x, places), {3}, {0, 0, 0});
      check_values(bitwise_right_shift(x, places), {3}, {0, -1, 0});
      const Tensor wide = x.to(kInt64);
      check_values(bitwise_left_shift(wide, where(by < 0, by, by + 56)), {3}, {0, 0, 0});
      if (places != 256) check_values(bitwise_right_shift(x, by.to(kInt8)), {3}, {0, -1, 0});
    }
    check_values(bitwise_left_shift(x, 7), {3}, {-128, -128, 0});
  });
}

TEST_CASE("clamp with tensors takes empty ones, 0-dim ones and views") {
  for_each_device([](Device d) {
    const value_cases::Inputs in(d);
    CHECK(clamp(in.e, in.e).sizes() == IntArrayRef{0, 3});
    CHECK(clamp(in.a, in.z).min().item<double>() == 2.5);
    CHECK(clamp(in.a, {}, tensor(0.5)).max().item<double>() == 0.5);
    CHECK(clamp(in.a.t(), in.b.t()).equal(clamp(in.a, in.b).t()));
    CHECK(lerp(in.e, in.e, 0.5).sizes() == IntArrayRef{0, 3});
    CHECK(addcmul(in.e, in.e, in.z).sizes() == IntArrayRef{0, 3});
    // Written through a view.
    const Tensor x = in.a.clone();
    x.t().clamp_(in.b.t());
    CHECK(x.equal(clamp(in.a, in.b)));
  });
}

namespace {

std::vector<bad_input::BadCall> bad_calls() {
  using namespace bad_input;
#define PAIR(f, make)                                                          \
  SHAPE(f, make, make.narrow(1, 0, 2)), DEVICE(f, make, make.to("reference")), \
      VALUE(f, make, none()), VALUE(f, none(), make)
#define PAIRS(f, make)                                                               \
  PAIR(f, make), SHAPE(f##_, make.narrow(0, 0, 1), make), VALUE(f##_, none(), make), \
      DEVICE(f##_, make, make.to("reference")),                                      \
      VALUE(f##_, make.narrow(0, 0, 1).expand({2, 3}), make)
  return {
      PAIRS(hypot, m23()),
      DTYPE(hypot, i23(), i23()),
      PAIRS(nextafter, m23()),
      DTYPE(nextafter, i23(), i23()),
      PAIRS(heaviside, m23()),
      DTYPE(heaviside, m23(), i23()),
      PAIRS(copysign, m23()),
      DTYPE(copysign_, i23(), 1),
      PAIRS(xlogy, m23()),
      VALUE(xlogy, 2, none()),
      PAIRS(ldexp, m23()),
      PAIRS(float_power, ones({2, 3}, kFloat64)),
      DTYPE(float_power_, m23(), 2),
      VALUE(float_power, 2, none()),
      PAIRS(gcd, i23()),
      DTYPE(gcd, m23(), i23()),
      DTYPE(gcd, b23(), b23()),
      PAIRS(lcm, i23()),
      DTYPE(lcm, m23(), i23()),
      PAIRS(bitwise_left_shift, i23()),
      DTYPE(bitwise_left_shift, m23(), 1),
      DTYPE(bitwise_left_shift, b23(), b23()),
      VALUE(bitwise_left_shift, 1, none()),
      PAIRS(bitwise_right_shift, i23()),
      DTYPE(bitwise_right_shift, i23(), 1.5),
      PAIR(fmax, m23()),
      PAIR(fmin, m23()),
      PAIR(logaddexp, m23()),
      DTYPE(logaddexp, i23(), i23()),
      PAIR(logaddexp2, m23()),
      DTYPE(logaddexp2, i23(), i23()),
      VALUE(div, m23(), 2, "up"),
      VALUE(div_, m23(), m23(), "up"),
      VALUE(div, none(), 2, "floor"),
      VALUE(remainder, 2, none()),
      VALUE(bitwise_and, 2, none()),
      VALUE(clamp_min, none(), 1),
      VALUE(clamp_min, none(), m23()),
      SHAPE(clamp_min, m23(), m45()),
      SHAPE(clamp_min_, ones({3}), m23()),
      DEVICE(clamp_min_, m23(), there()),
      VALUE(clamp_max, none(), 1),
      DEVICE(clamp_max, m23(), there()),
      DTYPE(clamp_max_, i23(), 0.5),
      DTYPE(clamp_max_, i23(), m23()),
      VALUE(clamp, m23(), std::optional<Tensor>()),
      VALUE(clamp_, none(), m23()),
      SHAPE(addcmul, m23(), m45(), m23()),
      DEVICE(addcmul, m23(), m23(), there()),
      VALUE(addcmul, m23(), none(), m23()),
      SHAPE(addcmul_, ones({3}), m23(), m23()),
      DTYPE(addcmul_, i23(), m23(), m23()),
      SHAPE(addcdiv, m23(), m45(), m23()),
      DTYPE(addcdiv, i23(), i23(), i23()),
      DEVICE(addcdiv, m23(), m23(), there()),
      DTYPE(addcdiv_, i23(), i23(), i23()),
      SHAPE(addcdiv_, ones({3}), m23(), m23()),
      SHAPE(lerp, m23(), m45(), 0.5),
      DTYPE(lerp, i23(), i23(), 0.5),
      DTYPE(lerp, m23(), ones({2, 3}, kFloat64), 0.5),
      DTYPE(lerp, m23(), m23(), ones({2, 3}, kFloat64)),
      DEVICE(lerp, m23(), m23(), there()),
      SHAPE(lerp_, ones({3}), m23(), 0.5),
      SHAPE(lerp_, ones({3}), ones({3}), m23()),
      DTYPE(round, i23(), 1),
      DTYPE(round_, i23(), 1),
      VALUE(nan_to_num, none()),
      VALUE(nan_to_num_, none()),
      VALUE(nan_to_num_, ones({1, 3}).expand({2, 3})),
      VALUE(signbit, none()),
      VALUE(isposinf, none()),
      VALUE(isneginf, none()),
      VALUE(isreal, none()),
      VALUE(positive, none()),
      DTYPE(positive, b23()),
      VALUE(where, none(), 1, 2),
      DTYPE(where, m23(), 1, 2),
  };
#undef PAIR
#undef PAIRS
}
const CallTable<bad_input::BadCall> kBad(bad_calls);

std::vector<agreement::Call> agreement_calls() {
  using namespace agreement;
#define PAIR(f, x, w) RESULT(f, f(o.x, o.w)), IN_PLACE(f##_, o.x, o.w)
  return {
      PAIR(hypot, a, unit),
      PAIR(nextafter, a, unit),
      PAIR(heaviside, a, unit),
      PAIR(copysign, unit, a),
      PAIR(xlogy, a, unit),
      RESULT(xlogy, xlogy(2, o.unit), xlogy(o.a, 3)),
      PAIR(ldexp, a, n),
      RESULT(float_power, float_power(o.unit, 2), float_power(o.n, 2), float_power(2, o.a)),
      Call{"float_power_",
           [](const Operands& o) {
             return std::vector<Tensor>{MADE(o.unit.to(kFloat64, false, true)).float_power_(o.n)};
           }},
      PAIR(gcd, n, m),
      PAIR(lcm, n, m),
      PAIR(bitwise_left_shift, n, m),
      PAIR(bitwise_right_shift, n, m),
      RESULT(fmax, fmax(o.a, o.b), fmax(o.n, o.m)),
      RESULT(fmin, fmin(o.a, o.b)),
      RESULT(logaddexp, logaddexp(o.a, o.b)),
      RESULT(logaddexp2, logaddexp2(o.a, o.b)),
      IN_PLACE(div_, o.n, 4, "floor"),
      RESULT(clamp_min, clamp_min(o.a, 0.1), clamp_min(o.a, o.b)),
      RESULT(clamp_max, clamp_max(o.a, 0.1), clamp_max(o.a, o.b)),
      IN_PLACE(clamp_min_, o.a, o.unit),
      IN_PLACE(clamp_max_, o.a, 0.1),
      RESULT(clamp, clamp(o.a, o.b, o.unit)),
      RESULT(addcmul, addcmul(o.a, o.b, o.unit, 0.5)),
      IN_PLACE(addcmul_, o.a, o.a, o.unit, 0.5),
      RESULT(addcdiv, addcdiv(o.a, o.b, o.unit, 0.5)),
      IN_PLACE(addcdiv_, o.a, o.a, o.unit, 0.5),
      RESULT(lerp, lerp(o.a, o.b, 0.3), lerp(o.a, o.b, o.unit)),
      IN_PLACE(lerp_, o.a, o.unit, 0.7),
      RESULT(round, round(o.a, 2)),
      IN_PLACE(round_, o.a, 2),
      RESULT(nan_to_num, nan_to_num(MADE(log(o.a)))),
      IN_PLACE(nan_to_num_, MADE(log(o.a))),
      RESULT(signbit, signbit(o.a), signbit(o.n)),
      RESULT(isposinf, isposinf(MADE(o.a / 0.0))),
      RESULT(isneginf, isneginf(MADE(o.a / 0.0))),
      RESULT(isreal, isreal(o.a)),
      RESULT(positive, positive(o.a)),
  };
#undef PAIR
}
const CallTable<agreement::Call> kAgreement(agreement_calls);

std::vector<mismatch::Call> mixed_calls() {
  using namespace mismatch;
  const auto i = [] { return ones({2, 2}, kInt64); };
#define PAIR(name, make)                                \
  BOTH(name, elementwise, given(make(), make()), t[1]), \
      BOTH(name##_, in_place_elementwise, given(make(), make()), t[1])
#define THREE(name)                                          \
  BOTH(name, elementwise, given(f(), f(), f()), t[1], t[2]), \
      BOTH(name##_, in_place_elementwise, given(f(), f(), f()), t[1], t[2])
  const auto d = [] { return ones({2, 2}, kFloat64); };
  return {
      PAIR(hypot, f),
      PAIR(nextafter, f),
      PAIR(heaviside, f),
      PAIR(copysign, f),
      PAIR(xlogy, f),
      PAIR(ldexp, f),
      PAIR(float_power, d),
      PAIR(gcd, i),
      PAIR(lcm, i),
      PAIR(bitwise_left_shift, i),
      PAIR(bitwise_right_shift, i),
      BOTH(fmax, elementwise, given(f(), f()), t[1]),
      BOTH(fmin, elementwise, given(f(), f()), t[1]),
      BOTH(logaddexp, elementwise, given(f(), f()), t[1]),
      BOTH(logaddexp2, elementwise, given(f(), f()), t[1]),
      BOTH(div_, in_place_elementwise, given(f(), f()), t[1], "floor"),
      PAIR(clamp_min, f),
      PAIR(clamp_max, f),
      THREE(addcmul),
      THREE(addcdiv),
      THREE(lerp),
      BOTH(lerp, elementwise, given(f(), f()), t[1], 0.5),
      BOTH(lerp_, in_place_elementwise, given(f(), f()), t[1], 0.5),
      Call{"Tensor::isclose", Rule::elementwise, given(f(), f()),
           [](const Tensors& t) { static_cast<void>(t[0].isclose(t[1])); }},
  };
}
const CallTable<mismatch::Call> kMixed(mixed_calls);

}  // namespace
