// Pointwise functions other than arithmetic have PyTorch's values and gradients.
#include <doctest/doctest.h>

#include "tests/autograd/gradcheck.h"
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

// Functions that are smooth for the operands below, which are in [1.2, 2.8] and all different.
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
      SMOOTH("copysign_, number", (in[0] * 1).copysign_(-3)),
      SMOOTH("xlogy_", (in[0] * 1).xlogy_(in[1])),
      SMOOTH("xlogy_, number", (in[0] * 1).xlogy_(0.5)),
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
  // nextafter depends on the dtype; float16 and bfloat16 results may be rounded to the other
  // neighbour.
  value_cases::check_cases(cases(),
                           {"torch.nextafter(s, t)", "torch.round(a * 1.2345, decimals=2)"});
}

TEST_CASE("pointwise functions have correct first and second gradients") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {2, 3}, 0.7) * 0.8 + 2, w = wave(d, {2, 3}, 1.1) * 0.7 + 2.05;
    for (const Smooth& s : smooth_functions()) {
      INFO(std::string(s.name));
      const auto f = [&s](const Tensors& in) { return s.f(in) + in[1].mean(); };  // depends on both
      gradcheck(f, {x, w});
      gradgradcheck(f, {x, w});
    }
  });
}

TEST_CASE("ldexp by integers keeps the dtype, and is finite if the result is") {
  for_each_device([](Device d) {
    // torch.ldexp(torch.tensor([0.5, 0, 1e-300, 1, 3], dtype=torch.float64),
    //             torch.tensor([2000, 5000, 1500, -1074, -5000])) of PyTorch 2.15
    const Tensor x = tensor({0.5, 0., 1e-300, 1., 3.}, TensorOptions(kFloat64).device(d));
    check_values(ldexp(x, tensor({2000, 5000, 1500, -1074, -5000}, d)), {5},
                 {INFINITY, 0, 3.5074662110434037e151, 0x1p-1074, 0});
    check_values(ldexp(tensor({0.5f, 1e-38f}, d), tensor({128, 200}, d)), {2},
                 {0x1p127, std::ldexp(double{1e-38f}, 200)});
    CHECK(ldexp(tensor(0.5, TensorOptions(kBFloat16).device(d)), tensor(3, d)).dtype() ==
          kBFloat16);
    const Tensor a = tensor({1., 2.}, TensorOptions(kFloat64).device(d)).requires_grad_();
    ldexp(a, tensor({3, -1}, d)).sum().backward();
    check_values(a.grad(), {2}, {8, 0.5});
    Tensor b = tensor({1.f, 2.f}, d);
    check_values(b.ldexp_(tensor({3, -1}, d)), {2}, {8, 1});
  });
}
