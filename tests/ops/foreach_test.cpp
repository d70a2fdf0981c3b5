// Functions of lists: each result equals that of the function, and a refused call changes nothing.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;

namespace {

using Tensors = std::vector<Tensor>;

Tensors copies(const Tensors& list) { return _foreach_clone(list); }

/// Return tensors of the dtype with different sizes, and elements in (0, 1).
Tensors list_on(Device d, DType dtype = kFloat64) {
  Tensors list;
  for (const Dims& sizes : {Dims{2, 3}, Dims{}, Dims{4}}) {
    list.push_back((wave(d, sizes, 0.37) * 0.4 + 0.5).to(dtype));
  }
  return list;
}

void check_equal(const Tensors& got, const Tensors& expected) {
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    INFO("tensor ", i);
    CHECK(got[i].dtype() == expected[i].dtype());
    // The in-place form may use another kernel, so results may differ by two roundings of float64,
    // 2^-53 each.
    CHECK(got[i].allclose(expected[i], 0x1p-52, 0));
  }
}

template <class F>
Tensors mapped(const Tensors& list, const F& f) {
  Tensors out;
  for (size_t i = 0; i < list.size(); ++i) out.push_back(f(list[i], i));
  return out;
}

}  // namespace

TEST_CASE("functions of a list equal the functions of each tensor") {
  for_each_device([](Device d) {
    for (const DType dtype : {kFloat64, kFloat16}) {
      const Tensors x = list_on(d, dtype);
#define COMPARE_UNARY(name)                                                          \
  {                                                                                  \
    INFO(#name);                                                                     \
    const Tensors want = mapped(x, [](const Tensor& t, size_t) { return name(t); }); \
    check_equal(_foreach_##name(x), want);                                           \
    const Tensors y = copies(x), out = copies(x);                                    \
    _foreach_##name##_(y);                                                           \
    check_equal(y, want);                                                            \
    _foreach_##name##_out(out, x);                                                   \
    check_equal(out, want);                                                          \
  }
      AMBIT_FOREACH_UNARY(COMPARE_UNARY)
#undef COMPARE_UNARY
    }
  });
}

TEST_CASE("functions of a list and numbers or tensors equal the functions of each tensor") {
  for_each_device([](Device d) {
    const Tensors x = list_on(d), other = _foreach_cos(x);
    const std::vector<Scalar> numbers{2, 0.25, 3};
#define COMPARE_BINARY(name, of_number)                                                       \
  {                                                                                           \
    INFO(#name);                                                                              \
    const auto by_tensor = [&](const Tensor& t, size_t i) { return name(t, other[i]); };      \
    const auto by_number = [](const Tensor& t, const Scalar& s) { return of_number(t, s); };  \
    const auto by_one = [&](const Tensor& t, size_t) { return by_number(t, 0.5); };           \
    const auto by_list = [&](const Tensor& t, size_t i) { return by_number(t, numbers[i]); }; \
    check_equal(_foreach_##name(x, other), mapped(x, by_tensor));                             \
    check_equal(_foreach_##name(x, 0.5), mapped(x, by_one));                                  \
    check_equal(_foreach_##name(x, numbers), mapped(x, by_list));                             \
    Tensors y = copies(x);                                                                    \
    _foreach_##name##_(y, other);                                                             \
    check_equal(y, mapped(x, by_tensor));                                                     \
    y = copies(x);                                                                            \
    _foreach_##name##_(y, 0.5);                                                               \
    check_equal(y, mapped(x, by_one));                                                        \
    y = copies(x);                                                                            \
    _foreach_##name##_(y, numbers);                                                           \
    check_equal(y, mapped(x, by_list));                                                       \
    const Tensors out = copies(x);                                                            \
    _foreach_##name##_out(out, x, other);                                                     \
    check_equal(out, mapped(x, by_tensor));                                                   \
  }
    COMPARE_BINARY(add, add)
    COMPARE_BINARY(sub, sub)
    COMPARE_BINARY(mul, mul)
    COMPARE_BINARY(div, div)
    COMPARE_BINARY(pow, pow)
    COMPARE_BINARY(clamp_min, clamp_min)
    COMPARE_BINARY(clamp_max, clamp_max)
    COMPARE_BINARY(minimum, clamp_max)
    COMPARE_BINARY(maximum, clamp_min)
#undef COMPARE_BINARY
  });
}

TEST_CASE("the other functions of lists equal the functions of each tensor") {
  for_each_device([](Device d) {
    const Tensors x = list_on(d), a = _foreach_cos(x), b = _foreach_sin(x);
    const Tensor number = full({}, 2.5, x[0].options()), three = tensor({1., 2., 3.});
    const std::vector<Scalar> numbers{1, 2, 3};
    const auto check = [&](const Tensors& got, const auto& f) { check_equal(got, mapped(x, f)); };
    check(_foreach_add(x, a, 0.5), [&](auto& t, size_t i) { return add(t, a[i], 0.5); });
    check(_foreach_sub(x, a, 3), [&](auto& t, size_t i) { return sub(t, a[i], 3); });
    check(_foreach_add(x, number, 2), [&](auto& t, size_t) { return add(t, number, 2); });
    check(_foreach_mul(x, number), [&](auto& t, size_t) { return mul(t, number); });
    check(_foreach_div(x, number), [&](auto& t, size_t) { return div(t, number); });
    check(_foreach_pow(2, x), [&](auto& t, size_t) { return pow(2, t); });
    const auto with_number = [&](const Tensors& got, double by) {
      check(got, [&](auto& t, size_t i) { return addcmul(t, a[i], b[i], by); });
    };
    with_number(_foreach_addcmul(x, a, b), 1);
    with_number(_foreach_addcmul(x, a, b, 0.5), 0.5);
    const auto with_numbers = [&](const Tensors& got) {
      check(got, [&](auto& t, size_t i) { return addcdiv(t, a[i], b[i], numbers[i]); });
    };
    with_numbers(_foreach_addcdiv(x, a, b, numbers));
    with_numbers(_foreach_addcdiv(x, a, b, three));
    check(_foreach_lerp(x, a, 0.25), [&](auto& t, size_t i) { return lerp(t, a[i], 0.25); });
    check(_foreach_lerp(x, a, numbers),
          [&](auto& t, size_t i) { return lerp(t, a[i], numbers[i]); });
    check(_foreach_lerp(x, a, b), [&](auto& t, size_t i) { return lerp(t, a[i], b[i]); });
    check(_foreach_max(x), [](auto& t, size_t) { return max(t); });
    check(_foreach_norm(x, 3), [](auto& t, size_t) { return linalg_vector_norm(t, 3); });
    check(_foreach_zero(x), [](auto& t, size_t) { return zeros_like(t); });
    check(_foreach_copy(x, a), [&](auto&, size_t i) { return a[i]; });
    check_equal(_foreach_mm({eye(2, x[0].options()), x[0]}, {x[0], x[0].t()}),
                {x[0], mm(x[0], x[0].t())});

    const auto in_place = [&](const auto& f, const Tensors& want) {
      const Tensors y = copies(x);
      f(y);
      check_equal(y, want);
    };
    in_place([&](auto& y) { _foreach_add_(y, a, 0.5); }, _foreach_add(x, a, 0.5));
    in_place([&](auto& y) { _foreach_add_(y, number, 2); }, _foreach_add(x, number, 2));
    in_place([&](auto& y) { _foreach_mul_(y, number); }, _foreach_mul(x, number));
    in_place([&](auto& y) { _foreach_div_(y, number); }, _foreach_div(x, number));
    in_place([&](auto& y) { _foreach_addcmul_(y, a, b, 0.5); }, _foreach_addcmul(x, a, b, 0.5));
    in_place([&](auto& y) { _foreach_addcdiv_(y, a, b, numbers); },
             _foreach_addcdiv(x, a, b, numbers));
    in_place([&](auto& y) { _foreach_addcdiv_(y, a, b, three); },
             _foreach_addcdiv(x, a, b, numbers));
    in_place([&](auto& y) { _foreach_lerp_(y, a, 0.25); }, _foreach_lerp(x, a, 0.25));
    in_place([&](auto& y) { _foreach_lerp_(y, a, numbers); }, _foreach_lerp(x, a, numbers));
    in_place([&](auto& y) { _foreach_lerp_(y, a, b); }, _foreach_lerp(x, a, b));
    in_place([&](auto& y) { _foreach_copy_(y, a); }, a);
    in_place([&](auto& y) { _foreach_zero_(y); }, _foreach_zero(x));
    const Tensors out = copies(x);
    _foreach_lerp_out(out, x, a, 0.25);
    check_equal(out, _foreach_lerp(x, a, 0.25));
  });
}

// PyTorch 2.15: xs = [wave(2), wave(3)]; torch._foreach_sub(xs, xs, alpha=0.5) and so on.
TEST_CASE("functions of lists have PyTorch's values") {
  for_each_device([](Device d) {
    const Tensors x{wave(d, {2}), wave(d, {3})}, more = _foreach_add(x, 1);
    const auto check = [](const Tensors& got, const std::vector<double>& first,
                          const std::vector<double>& second, IntArrayRef a = 2, IntArrayRef b = 3) {
      REQUIRE(got.size() == 2);
      check_values(got[0], a, first);
      check_values(got[1], b, second);
    };
    check(_foreach_sub(x, x, 0.5), {0, 0.322108843619}, {0, 0.322108843619, 0.492724864994});
    check(_foreach_add(x, std::vector<Scalar>{1, 2}), {1, 1.64421768724},
          {2, 2.64421768724, 2.98544972999});
    check(_foreach_pow(2, x), {1, 1.56289156616}, {1, 1.56289156616, 1.97993041852});
    check(_foreach_maximum(x, 0.3), {0.3, 0.644217687238}, {0.3, 0.644217687238, 0.985449729988});
    check(_foreach_clamp_max(x, std::vector<Scalar>{0.3, 0.1}), {0, 0.3}, {0, 0.1, 0.1});
    check(_foreach_addcmul(x, x, x, tensor({1., 2.})), {0, 1.05923411579},
          {0, 1.47425054434, 2.92767207066});
    check(_foreach_addcdiv(x, x, _foreach_add(x, 2), 0.5), {0, 0.766033998041},
          {0, 0.766033998041, 1.15049182065});
    check(_foreach_lerp(x, more, std::vector<Scalar>{0.25, 0.5}), {0.25, 0.894217687238},
          {0.5, 1.14421768724, 1.48544972999});
    check(_foreach_norm(x, 1), {0.644217687238}, {1.62966741723}, {}, {});
    check(_foreach_powsum(x, 3), {0.267360923766}, {1.22434216436}, {}, {});
    check(_foreach_powsum(x), {0.41501642855}, {1.38612759888}, {}, {});
    const Tensors narrow{x[0].to(kFloat32), x[1].to(kFloat32)};
    const Tensors norms = _foreach_norm(narrow, 2, kFloat64);
    CHECK(norms[0].dtype() == kFloat64);
    check(norms, {0.644217669964}, {1.17733919467}, {}, {});
  });
  CHECK_THROWS_AS(_foreach_powsum(ones({2}, kInt64)), DTypeError);
}

TEST_CASE("a refused function of lists changes none of them") {
  for_each_device([](Device d) {
    const Tensors x = list_on(d);
    Tensors y = copies(x);
    const auto refused = [&]<class E>(std::type_identity<E>, const auto& call) {
      CHECK_THROWS_AS(call(), E);
      check_equal(_foreach_clone(y), x);
    };
    using Wrong = std::type_identity<ShapeError>;
    const Tensors odd{x[0], x[1], ones({3}, x[0].options())};
    refused(Wrong(), [&] { _foreach_add_(y, odd); });
    refused(Wrong(), [&] { _foreach_mul_(y, odd); });
    refused(Wrong(), [&] { _foreach_addcmul_(y, x, odd); });
    refused(Wrong(), [&] { _foreach_lerp_(y, odd, 0.5); });
    refused(Wrong(), [&] { _foreach_copy_(y, odd); });
    refused(Wrong(), [&] { _foreach_add_(y, ones({2}, x[0].options())); });
    using Any = std::type_identity<Error>;
    refused(Any(), [&] { _foreach_add_(y, Tensors{x[0]}); });
    refused(Any(), [&] { _foreach_add_(y, std::vector<Scalar>{1, 2}); });
    refused(Any(), [&] { _foreach_mul_(y, Tensors{x[0], x[1], Tensor()}); });
    refused(Any(), [&] { _foreach_addcmul_(y, x, x, ones({2})); });
    refused(Any(), [&] { _foreach_exp_(Tensors{y[0], Tensor()}); });
    y[2].requires_grad_();
    refused(std::type_identity<AutogradError>(), [&] { _foreach_exp_(y); });
    refused(std::type_identity<AutogradError>(), [&] { _foreach_zero_(y); });
  });
  const Tensors whole{ones({2}), ones({2}, kInt64)};
  CHECK_THROWS_AS(_foreach_exp_(whole), DTypeError);
  CHECK_THROWS_AS(_foreach_mul_(whole, 0.5), DTypeError);
  CHECK_THROWS_AS(
      _foreach_add_(Tensors{ones({2}), ones({2})}, Tensors{ones({2}), ones({2}, "reference")}),
      DeviceMismatchError);
  check_equal(whole, {ones({2}), ones({2}, kInt64)});
  CHECK_THROWS_WITH_AS(_foreach_abs(Tensors()),
                       "_foreach_abs: expected at least one tensor, got none", Error);
  CHECK_THROWS_WITH_AS(_foreach_mul(whole, Tensors{ones({2})}),
                       "_foreach_mul: expected lists of one length, got 2 and 1", Error);
  CHECK_THROWS_AS(_foreach_abs_out(Tensors{ones({2})}, whole), Error);
}

TEST_CASE("gradients flow through functions of lists") {
  const Tensor x = wave(kCPU, {3}).requires_grad_(), y = wave(kCPU, {2}, 0.3).requires_grad_();
  const Tensors out = _foreach_mul(_foreach_exp({x, y}), 2);
  (out[0].sum() + out[1].sum()).backward();
  CHECK(x.grad().equal(2 * exp(x.detach())));
  CHECK(y.grad().equal(2 * exp(y.detach())));
  const Tensors z{x.detach().requires_grad_() * 1};
  _foreach_mul_(z, 3);
  CHECK(z[0].requires_grad());
}
