// Aliases: each has the results of its function.
#include <doctest/doctest.h>

#include "tests/mismatch/mismatch_calls.h"
#include "value_cases.h"

using namespace ambit;

namespace {

bool same(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.allclose(b, 0, 0, /*equal_nan=*/true);
}

}  // namespace

TEST_CASE(
    "aliases of unary functions have their results, as functions and methods, also in place") {
  for_each_device([](Device d) {
    const Tensor x = value_cases::Inputs(d).a;
#define SAME(alias, function)                                  \
  CHECK(same(ambit::alias(x), ambit::function(x)));            \
  CHECK(same(x.alias(), ambit::function(x)));                  \
  CHECK(same(ambit::alias##_(x.clone()), ambit::function(x))); \
  CHECK(same(x.clone().alias##_(), ambit::function(x)));
    AMBIT_UNARY_ALIASES(SAME)
#undef SAME
  });
}

TEST_CASE("aliases of binary ops have their results, as functions and methods, also in place") {
  for_each_device([](Device d) {
    const value_cases::Inputs in(d);
    const Tensor &a = in.a, &b = in.b;
#define SAME(alias, function)                                   \
  CHECK(same(ambit::alias(a, b), ambit::function(a, b)));       \
  CHECK(same(a.alias(2), ambit::function(a, 2)));               \
  CHECK(same(a.clone().alias##_(b), a.clone().function##_(b))); \
  CHECK(same(ambit::alias##_(a.clone(), 2), ambit::function##_(a.clone(), 2)));
    AMBIT_BINARY_ALIASES(SAME)
#undef SAME
    CHECK(same(subtract(a, b, 2), sub(a, b, 2)));
    CHECK(same(a.subtract(3, 2), a.sub(3, 2)));
    CHECK(same(a.clone().subtract_(b, 2), sub(a, b, 2)));
    CHECK(same(a.clone().subtract_(3), a - 3));
    CHECK(same(divide(a, b, "floor"), floor_divide(a, b)));
    CHECK(same(a.divide(2, "trunc"), div(a, 2, "trunc")));
    CHECK(same(a.clone().divide_(b, "floor"), floor_divide(a, b)));
    CHECK(same(divide_(a.clone(), 2, "trunc"), div(a, 2, "trunc")));
    CHECK(same(arctan2(a, b), atan2(a, b)));
    CHECK(same(a.clone().arctan2_(b), a.arctan2(b)));
    CHECK(same(clip(a, -1, 1), clamp(a, -1, 1)));
    CHECK(same(a.clip(b, b + 1), clamp(a, b, b + 1)));
    CHECK(same(a.clone().clip_(0.5), clamp(a, 0.5)));
    CHECK(same(clip_(a.clone(), b), clamp(a, b)));
    CHECK(same(absolute(in.n), abs(in.n)));
    CHECK(sgn(in.y).equal(in.y));
    CHECK(in.a.type_as(in.n).dtype() == kInt64);
  });
}

namespace {

std::vector<mismatch::Call> mixed_calls() {
  using namespace mismatch;
#define ALIAS(alias, function)                                               \
  reported_as(METHOD(alias, elementwise, given(f(), f()), t[1]), #function), \
      reported_as(METHOD(alias##_, in_place_elementwise, given(f(), f()), t[1]), #function "_")
#define ASSIGNMENT(sign, name)                                             \
  Call {                                                                   \
    "Tensor::operator" #sign, Rule::in_place_elementwise, given(i(), i()), \
        [](const Tensors& t) { static_cast<void>(t[0] sign t[1]); }, #name \
  }
  const auto i = [] { return ones({2, 2}, kInt64); };
  return {
      ALIAS(multiply, mul),
      ALIAS(divide, div),
      ALIAS(true_divide, div),
      ALIAS(not_equal, ne),
      ALIAS(greater, gt),
      ALIAS(greater_equal, ge),
      ALIAS(less, lt),
      ALIAS(less_equal, le),
      ALIAS(subtract, sub),
      ALIAS(arctan2, atan2),
      reported_as(METHOD(divide, elementwise, given(f(), f()), t[1], "trunc"), "div"),
      reported_as(METHOD(divide_, in_place_elementwise, given(f(), f()), t[1], "trunc"), "div_"),
      ASSIGNMENT(&=, bitwise_and_),
      ASSIGNMENT(|=, bitwise_or_),
      ASSIGNMENT(^=, bitwise_xor_),
  };
}
const CallTable<mismatch::Call> kMixed(mixed_calls);

}  // namespace
