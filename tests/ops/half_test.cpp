// Half and BFloat16, and tensors of them: every number, conversions on every device, promotion.
// half_kernels_test.cpp tests kernels.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>
#include <string>
#include <unordered_set>

#include "tests/devices.h"

using namespace ambit;

namespace {

template <class T>
T from_bits(int bits) {
  return T(static_cast<uint16_t>(bits), T::from_bits());
}

/// Return the value of the bits, by the definition of the format.
double value_of(int bits, int fraction_bits) {
  const int exponent_bits = 15 - fraction_bits, bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) return fraction ? NAN : sign * INFINITY;
  const double one = exponent ? 1 : 0;
  return sign *
         std::ldexp(one + std::ldexp(fraction, -fraction_bits), std::max(exponent, 1) - bias);
}

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

/// Floats where the rounding changes: each number, the midpoint to the next, and the neighbours of
/// both.
template <class T>
std::vector<float> floats_around_all() {
  std::vector<float> floats;
  for (int bits = 0; bits < 0x10000; ++bits) {
    const double here = from_bits<T>(bits), next = from_bits<T>((bits + 1) & 0xffff);
    if (!std::isfinite(here)) continue;
    // The midpoints include the one beyond the largest number, from which on numbers round to
    // infinity.
    const double step = std::isfinite(next) ? next - here : here - from_bits<T>(bits - 1);
    const auto half = static_cast<float>(here + step / 2);
    for (const float x : {static_cast<float>(here), half}) {
      floats.insert(floats.end(), {x, std::nextafter(x, INFINITY), std::nextafter(x, -INFINITY)});
    }
  }
  return floats;
}

/// Return x rounded to the nearest number of type T, ties to even.
template <class T>
T nearest(float x) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(x)) return Limits::quiet_NaN();
  const double size = std::abs(static_cast<double>(x));
  int low = 0, high = Limits::infinity()
                          .x;  // find the largest number that is not above the value, by bisection
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (from_bits<T>(middle) <= size ? low : high) = middle;
  }
  // Infinity counts as the number after the largest.
  const double below = from_bits<T>(low);
  const double above = high == Limits::infinity().x
                           ? 2 * below - static_cast<double>(from_bits<T>(low - 1))
                           : static_cast<double>(from_bits<T>(high));
  const double down = size - below, up = above - size;
  const int bits = down < up || (down == up && low % 2 == 0) ? low : high;
  return from_bits<T>(bits | (std::signbit(x) ? 0x8000 : 0));
}

template <class T>
void check_type() {
  constexpr int kFraction = std::numeric_limits<T>::digits - 1;
  int wrong = 0;
  for (int bits = 0; bits < 0x10000; ++bits) {
    const T x = from_bits<T>(bits);
    wrong += !same(x, value_of(bits, kFraction));
    wrong += !std::isnan(static_cast<float>(x)) && T(static_cast<float>(x)).x != bits;  // and back
  }
  CHECK(wrong == 0);
  for (const float x : floats_around_all<T>()) wrong += T(x).x != nearest<T>(x).x;
  CHECK(wrong == 0);

  using Limits = std::numeric_limits<T>;
  static_assert(Limits::is_specialized && sizeof(T) == 2 && std::is_trivially_copyable_v<T>);
  CHECK(T(1) + Limits::epsilon() > T(1));
  CHECK(T(1) + T(Limits::epsilon() / 2) == T(1));
  CHECK(from_bits<T>(Limits::max().x + 1) == Limits::infinity());
  CHECK(Limits::lowest() == -Limits::max());
  CHECK(static_cast<float>(Limits::min()) == std::ldexp(1.f, Limits::min_exponent - 1));
  CHECK(Limits::denorm_min().x == 1);
  CHECK(std::isnan(static_cast<float>(Limits::quiet_NaN())));
  CHECK(std::isnan(static_cast<float>(Limits::signaling_NaN())));

  // The result types of operators are those of libtorch.
  static_assert(std::is_same_v<decltype(T() + T()), T> && std::is_same_v<decltype(T() * 2), T>);
  static_assert(std::is_same_v<decltype(T() - 1.f), float>);
  static_assert(std::is_same_v<decltype(2. / T()), double>);
  constexpr T kThree = T(1) + 2;
  static_assert(kThree == 3 && -kThree < 0 && kThree / 2 == 1.5f);
  T sum = 1;
  sum += 0.5f;
  sum *= 4;
  sum -= T(1);
  sum /= 2;
  CHECK(sum == 2.5f);
  std::ostringstream text;
  text << T(0.5f);
  CHECK(text.str() == "0.5");
  CHECK(std::unordered_set<T>{T(0.f), T(-0.f), T(1)}.size() == 2);  // zeros are equal
}

template <class T>
Tensor all_numbers() {
  std::vector<int16_t> bits(0x10000);
  for (size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<int16_t>(i);
  return tensor(bits, kInt16).view(dtype_of<T>);
}

template <class T>
void check_copies(Device device) {
  const DType dtype = dtype_of<T>;
  const Tensor numbers = all_numbers<T>();
  const Tensor wide = numbers.to(device).to(kFloat32).cpu();
  int wrong = 0;
  for (int i = 0; i < 0x10000; ++i) {
    wrong += !same(wide.data_ptr<float>()[i], from_bits<T>(i));
  }
  CHECK(wrong == 0);
  std::vector<float> floats = floats_around_all<T>();
  for (const float x : {INFINITY, -INFINITY, 3e38f, 1e-45f, -1e-40f}) floats.push_back(x);
  const Tensor x = tensor(floats, kFloat32), y = x.to(device).to(dtype).cpu();
  for (size_t i = 0; i < floats.size(); ++i) wrong += y.data_ptr<T>()[i].x != T(floats[i]).x;
  CHECK(wrong == 0);
  const float nan = std::bit_cast<float>(0xff801234);  // negative, with its payload in the low bits
  const Tensor nans = full({5}, nan, kFloat32).to(device).to(dtype);
  CHECK(nans.isnan().all().item<bool>());
  CHECK(nans.signbit().all().item<bool>());

  // Conversions with strides on both sides, from and to all dtypes, have the same results as with
  // float32.
  const Tensor square = numbers.narrow(0, 0x3c00, 4096).view({64, 64});
  const Tensor t = square.to(device).t().slice(0, 1, 64, 3), host = square.t().slice(0, 1, 64, 3);
  CHECK(t.to(kFloat32).cpu().equal(host.to(kFloat32)));
  const Tensor into = zeros({64, 64}, TensorOptions(dtype).device(device));
  into.t().slice(0, 1, 64, 3).copy_(host.to(kFloat32).to(device));
  CHECK(into.t().slice(0, 1, 64, 3).cpu().equal(host));
  CHECK(into.count_nonzero().item<int64_t>() == host.count_nonzero().item<int64_t>());
  const Tensor few = tensor({0., 1., -2.5, 100.25, 77., 1e-3}, dtype).to(device);
  for (const DType other : dtypes::kEvery) {
    INFO(name(other));
    if (other == kUInt8) continue;  // the conversion of negative numbers is undefined in C++
    CHECK(few.to(other).cpu().equal(few.cpu().to(kFloat32).to(other)));
    const Tensor back = tensor({0, 1, 1, 100}, other).to(device);
    CHECK(back.to(dtype).cpu().equal(back.cpu().to(kFloat32).to(dtype)));
  }
}

}  // namespace

TEST_CASE("Half and BFloat16 have the values of their formats, and floats round to nearest") {
  check_type<Half>();
  check_type<BFloat16>();
}

TEST_CASE("copies convert float16 and bfloat16 on every device, bit by bit") {
  for_each_device([](Device device) {
    check_copies<Half>(device);
    check_copies<BFloat16>(device);
  });
}

TEST_CASE("float16 and bfloat16 are promoted as in PyTorch") {
  // [str(torch.promote_types(torch.float16, t))[6:] for t in (bool, uint8, int8, int16, int32,
  // int64, float16, bfloat16, float32, float64)], and of bfloat16
  for (const DType d : dtypes::kEvery) {
    INFO(name(d));
    const DType with_half = d == kBFloat16 || d == kFloat32 ? kFloat32
                            : d == kFloat64                 ? kFloat64
                                                            : kFloat16;
    const DType with_bfloat16 = d == kFloat16 || d == kFloat32 ? kFloat32
                                : d == kFloat64                ? kFloat64
                                                               : kBFloat16;
    CHECK(promote_types(kHalf, d) == with_half);
    CHECK(promote_types(d, kHalf) == with_half);
    CHECK(promote_types(kBFloat16, d) == with_bfloat16);
    CHECK(promote_types(d, kBFloat16) == with_bfloat16);
    CHECK((ones({2}, kHalf) + ones({2}, d)).dtype() == with_half);
    CHECK((ones({2}, d) * ones({2}, kBFloat16)).dtype() == with_bfloat16);
  }
  for (const DType d : dtypes::kReducedFloating) {
    CHECK((ones({2}, d) + 1.5).dtype() == d);
    CHECK((ones({2}, d) + 1).dtype() == d);
    CHECK((1 / ones({2}, d)).dtype() == d);
    CHECK((ones({2}, d) + tensor(1.5, kFloat64)).dtype() == d);  // 0-dim tensors do not promote
    CHECK((ones({2}, kInt64) * tensor(1.5, d)).dtype() == d);
    CHECK(ones({2}, d).sum().dtype() == d);
    CHECK(is_floating_point(d));
    CHECK(is_signed(d));
    CHECK_FALSE(is_integral(d));
    CHECK(element_size(d) == 2);
  }
}

TEST_CASE("finfo has the limits of torch.finfo") {
  // torch.finfo(dtype), in double
  const auto check = [](DType dtype, int bits, double eps, double max, double tiny, double digits) {
    const FloatInfo info = finfo(dtype);
    CHECK(info.bits == bits);
    CHECK(info.eps == eps);
    CHECK(info.max == max);
    CHECK(info.min == -max);
    CHECK(info.smallest_normal == tiny);
    CHECK(info.tiny == tiny);
    CHECK(info.resolution == digits);
  };
  check(kFloat16, 16, 0.0009765625, 65504, 6.103515625e-05, 0.001);
  check(kBFloat16, 16, 0.0078125, 3.3895313892515355e+38, 1.1754943508222875e-38, 0.01);
  check(kFloat32, 32, 1.1920928955078125e-07, 3.4028234663852886e+38, 1.1754943508222875e-38, 1e-6);
  check(kFloat64, 64, 2.220446049250313e-16, 1.7976931348623157e+308, 2.2250738585072014e-308,
        1e-15);
  static_assert(finfo(kBFloat16).eps == 0x1p-7);
  CHECK_THROWS_WITH_AS(finfo(kInt64), "finfo: expected a floating-point dtype, got int64",
                       DTypeError);
}

TEST_CASE("float16 and bfloat16 are printed as in PyTorch") {
  // torch.tensor([1, 0.1, -2.5], dtype=torch.float16), ...
  CHECK(str(tensor({1., 0.1, -2.5}, kHalf)) ==
        "tensor([ 1.0000,  0.1000, -2.5000], dtype=torch.float16)");
  CHECK(str(tensor({1., 0.1, -2.5}, kBFloat16)) ==
        "tensor([ 1.0000,  0.1001, -2.5000], dtype=torch.bfloat16)");
  CHECK(str(ones({2}, kHalf)) == "tensor([1., 1.], dtype=torch.float16)");
  CHECK(str(tensor({65504., 1e-7}, kHalf)) ==
        "tensor([6.5504e+04, 1.1921e-07], dtype=torch.float16)");
  CHECK(ones({}, kHalf).toString() == "CPUHalfType");
  CHECK(ones({}, kBFloat16).toString() == "CPUBFloat16Type");
}

TEST_CASE("tensors of float16 and bfloat16 are created, read and refused like others") {
  for_each_device([](Device device) {
    for (const DType d : dtypes::kReducedFloating) {
      INFO(name(d));
      const TensorOptions o = TensorOptions(d).device(device);
      const auto numbers = [](const Tensor& t) {
        const Tensor wide = t.to(kCPU, kFloat64).contiguous();
        const auto* p = wide.data_ptr<double>();
        return std::vector<double>(p, p + wide.numel());
      };
      using Numbers = std::vector<double>;
      CHECK(numbers(zeros({2}, o)) == Numbers{0, 0});
      CHECK(numbers(full({2}, 0.5, o)) == Numbers{0.5, 0.5});
      CHECK(numbers(tensor({1., -2.5}, o)) == Numbers{1, -2.5});
      CHECK(numbers(arange(3, o)) == Numbers{0, 1, 2});
      CHECK(numbers(linspace(0, 1, 5, o)) == Numbers{0, 0.25, 0.5, 0.75, 1});
      CHECK(numbers(eye(2, o)) == Numbers{1, 0, 0, 1});
      CHECK(numbers(scalar_tensor(-3, o)) == Numbers{-3});
      CHECK(tensor({1., 2.}, o).dtype() == d);
      CHECK(full_like(ones({2}, o), 2).dtype() == d);
      CHECK(tensor(-2.5, o).item<float>() == -2.5f);
      CHECK(tensor(-2.5, o).item().toDouble() == -2.5);
      CHECK(tensor(3., o).item<int64_t>() == 3);
      CHECK(numbers(tensor({3., 1., 2., NAN}, o).narrow(0, 0, 3).fill_(0.1)) ==
            numbers(full({3}, 0.1, o)));
      // [0, 1) excludes 1, although most numbers near 1 round to it.
      const Tensor drawn = rand({20000}, o);
      CHECK(drawn.lt(1).all().item<bool>());
      CHECK(drawn.ge(0).all().item<bool>());
      CHECK(drawn.to(kFloat32).mean().item<double>() == doctest::Approx(0.5).epsilon(0.02));
      const Tensor normal = randn({20000}, o).to(kFloat32);
      CHECK(normal.std().item<double>() == doctest::Approx(1).epsilon(0.05));
      const Tensor dice = randint(1, 7, {1000}, o);
      CHECK(dice.min().item<int>() == 1);
      CHECK(dice.max().item<int>() == 6);
    }
  });
  CHECK(ones({1}, kInt64).half().dtype() == kFloat16);
  CHECK(ones({1}).bfloat16().dtype() == kBFloat16);
  CHECK(tensor(std::vector<Half>{1, 0.5}, kHalf).sum().item<Half>() == 1.5f);
  CHECK(full({1}, Half(0.5f)).dtype() == get_default_dtype());
  CHECK_THROWS_WITH_AS(full({2}, 70000., kHalf),
                       "full: expected a number that fits float16, got 70000", DTypeError);
  CHECK(full({2}, 70000., kBFloat16)[0].item<float>() == 70144);
  CHECK_THROWS_AS(ones({2}, kHalf).data_ptr<BFloat16>(), DTypeError);

  Half memory[] = {1, 2, 3, 4};
  const Tensor t = from_blob(memory, {2, 2}, kHalf);
  t.mul_(2);
  CHECK(memory[3] == 8);
  auto a = t.accessor<Half, 2>();
  a[1][0] += 0.5f;
  CHECK(t[1][0].item<float>() == 6.5f);
  CHECK(t.view(kInt16)[0][0].item<int>() == 0x4000);
}

TEST_CASE("the default dtype may be a reduced floating-point type") {
  const DType before = get_default_dtype();
  set_default_dtype(kBFloat16);
  CHECK(ones({2}).dtype() == kBFloat16);
  CHECK(tensor({1.5}).dtype() == kBFloat16);
  CHECK((ones({2}, kInt32) / 2).dtype() == kBFloat16);
  CHECK(str(ones({2})) == "tensor([1., 1.])");
  set_default_dtype(before);
}

TEST_CASE("numbers are not rounded to a reduced floating-point type, except in comparisons") {
  for_each_device([](Device device) {
    const TensorOptions o = TensorOptions(kBFloat16).device(device);
    // torch.tensor([3., 7., 100.], dtype=torch.bfloat16) * 0.1, and + 0.1
    const Tensor x = tensor({3., 7., 100.}, o);
    CHECK((x * 0.1).cpu().equal(tensor({0.30078125, 0.69921875, 10.}, kBFloat16)));
    CHECK((x + 0.1).cpu().equal(tensor({3.09375, 7.09375, 100.}, kBFloat16)));
    CHECK((tensor({0.1}, o) == 0.1).item<bool>());
    CHECK_FALSE((tensor({0.1}, o) < 0.1).item<bool>());
    CHECK((tensor({60000., 1.}, kHalf).to(device) + 70000).isinf().all().item<bool>());
  });
}

TEST_CASE("nextafter returns the next number of the dtype") {
  for_each_device([](Device device) {
    const auto check = [&]<class T>(T) {
      using Limits = std::numeric_limits<T>;
      const TensorOptions o = TensorOptions(dtype_of<T>).device(device);
      const std::vector<T> from{
          T(1), T(1), T(0), T(0), Limits::max(), Limits::min(), T(-1), T(2), Limits::quiet_NaN(),
          T(1)};
      const std::vector<T> to{T(2), T(0), T(1), T(-1), Limits::infinity(),
                              T(0), T(0), T(2), T(1),  Limits::quiet_NaN()};
      const std::vector<T> next{T(1.f + Limits::epsilon()),
                                T(1.f - Limits::epsilon() / 2.f),
                                Limits::denorm_min(),
                                -Limits::denorm_min(),
                                Limits::infinity(),
                                from_bits<T>(Limits::min().x - 1),
                                T(-1.f + Limits::epsilon() / 2.f),
                                T(2),
                                Limits::quiet_NaN(),
                                Limits::quiet_NaN()};
      const Tensor y = nextafter(tensor(from, o), tensor(to, o)).cpu();
      CHECK(y.allclose(tensor(next, dtype_of<T>), 0, 0, true));
    };
    check(Half());
    check(BFloat16());
  });
}
