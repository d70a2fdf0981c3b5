// Functors of elementwise kernels, compiled for the host, compared with the reference loops.
#include <ambit/ambit.h>
#include <ambit/backend/reference.h>
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "backends/cuda/loops/chosen_functor.h"

using namespace ambit;
using namespace ambit::cuda;
using arithmetic::Functor;
using arithmetic::OperandOf;

namespace {

// Values at and between kinks and limits of the functions.
template <class T>
std::vector<T> values() {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::same_as<T, bool>) {
    return {false, true};
  } else if constexpr (std::floating_point<T>) {
    std::vector<T> v = {0,
                        T(-0.0),
                        1,
                        -1,
                        2,
                        -2,
                        T(0.5),
                        T(-0.5),
                        T(1.5),
                        T(2.5),
                        3,
                        -7,
                        T(0.1),
                        T(-0.3),
                        10,
                        -20,
                        80,
                        -80,
                        -95,
                        Limits::infinity(),
                        -Limits::infinity(),
                        Limits::quiet_NaN(),
                        Limits::max(),
                        Limits::lowest(),
                        Limits::min()};
    for (int i = 1; i < 40; ++i) v.push_back(T(0.37) * T(i) * (i % 2 ? 1 : -1));
    return v;
  } else {
    return {0,
            1,
            2,
            3,
            7,
            100,
            static_cast<T>(-1),
            static_cast<T>(-2),
            static_cast<T>(-3),
            static_cast<T>(-100),
            Limits::min(),
            Limits::max(),
            static_cast<T>(Limits::max() - 1)};
  }
}

template <class T>
Tensor tensor_of(const std::vector<T>& v) {
  Tensor t = empty({static_cast<int64_t>(v.size())}, dtype_of<T>);
  for (size_t i = 0; i < v.size(); ++i) t.data_ptr<T>()[i] = v[i];
  return t;
}

// All pairs of the values.
template <class T>
std::pair<std::vector<T>, std::vector<T>> pairs() {
  std::vector<T> a, b;
  for (const T x : values<T>()) {
    for (const T y : values<T>()) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  return {a, b};
}

// `got` is computed in T's own precision, `want` in float64 and rounded once. A formula here has at
// most 4 roundings and 2 calls of libm, each within 2 ulp (glibc manual, "Errors in Math
// Functions"): 8 epsilon, relative to the largest term, which `scale` bounds.
template <class T>
bool is_close(T got, T want, double scale) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got);
  if (got == want) return true;
  if (std::isinf(want) || std::isinf(got)) {
    // An overflow may occur one rounding earlier or later.
    const double finite = std::isinf(want) ? got : want;
    return std::fabs(finite) >= 0.99 * std::numeric_limits<T>::max();
  }
  const double tolerance =
      8 * std::numeric_limits<T>::epsilon() * std::max(std::fabs(double(want)), scale) +
      8 * std::numeric_limits<T>::denorm_min();
  return std::fabs(double(got) - double(want)) <= tolerance;
}

// Call f.operator()<op>() for every function of a family.
template <class Op, class F>
void for_each_function(const F& f) {
  [&]<size_t... I>(std::index_sequence<I...>) {
    (f.template operator()<static_cast<Op>(I)>(), ...);
  }
  (std::make_index_sequence<functions<Op>().size()>());
}

// True if a function of a T returns a T.
template <auto op, class T>
constexpr bool maps() {
  return OperandOf<T, op> && row_of(op).result == FunctionRow::Result::same;
}

// Terms of a sum may cancel: its error is relative to the terms, not to the result.
double term_scale(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::add:
    case BinaryOp::sub:
    case BinaryOp::logaddexp:
    case BinaryOp::logaddexp2:
      return std::fmax(std::fabs(a), std::fabs(b));
    case BinaryOp::remainder:
      return std::fabs(b);
    case BinaryOp::sigmoid_grad:
      return std::fabs(a * b) * (1 + std::fabs(b));
    case BinaryOp::tanh_grad:
      return std::fabs(a) * (1 + b * b);
    case BinaryOp::gelu_grad:
    case BinaryOp::gelu_tanh_grad:
    case BinaryOp::silu_grad:
    case BinaryOp::mish_grad:
      return std::fabs(a) * (1 + std::fabs(b));
    case BinaryOp::selu_grad:  // the exponential is subnormal
      return 2 * std::fabs(a) * std::numeric_limits<float>::min();
    case BinaryOp::hardswish_grad:
      return std::fabs(a);
    case BinaryOp::logit_loss:
      return 1 + std::fabs(a) * (1 + std::fabs(b));
    // The relative error of an exponential is the absolute error of its argument.
    case BinaryOp::softplus:
      return std::fabs(a) * std::exp(std::fmin(a * b, 0));
    case BinaryOp::celu:
      return a <= 0 ? std::fabs(a) * std::exp(a / b) : 0;
    default:
      return 0;
  }
}

// Products of three factors overflow in float32, but not in float64.
bool multiplies_three(BinaryOp op) {
  return op == BinaryOp::sigmoid_grad || op == BinaryOp::tanh_grad || op == BinaryOp::gelu_grad ||
         op == BinaryOp::gelu_tanh_grad || op == BinaryOp::selu_grad ||
         op == BinaryOp::logit_loss || op == BinaryOp::smooth_l1;
}

}  // namespace

TEST_CASE_TEMPLATE("functions of one float equal the reference's", T, float, double) {
  const std::vector<T> in = values<T>();
  const Tensor x = tensor_of(in);
  for_each_function<UnaryOp>([&]<UnaryOp op>() {
    if constexpr (maps<op, T>()) {
      Tensor want = empty_like(x);
      reference::unary(want, x, op);
      for (size_t i = 0; i < in.size(); ++i) {
        CAPTURE(std::string(name(op)));
        CAPTURE(in[i]);
        // In gelu's tail the rounding of erfc's argument matters, as in PyTorch's x (1 + erf).
        const bool tailed = op == UnaryOp::gelu || op == UnaryOp::gelu_tanh;
        const double scale = tailed && std::isfinite(in[i]) ? std::fabs(in[i]) : 0;
        CHECK(is_close(Functor<op>()(in[i]), want.data_ptr<T>()[i], scale));
      }
    }
  });
}

TEST_CASE_TEMPLATE("functions of two floats equal the reference's", T, float, double) {
  const auto all = pairs<T>();
  const std::vector<T>&a = all.first, &b = all.second;
  const Tensor x = tensor_of(a), y = tensor_of(b);
  for_each_function<BinaryOp>([&]<BinaryOp op>() {
    if constexpr (maps<op, T>()) {
      Tensor want = empty_like(x);
      reference::binary(want, x, y, op);
      for (size_t i = 0; i < a.size(); ++i) {
        if (multiplies_three(op) && (std::fabs(a[i]) > 1e3 || std::fabs(b[i]) > 1e3)) continue;
        CAPTURE(std::string(name(op)));
        CAPTURE(a[i]);
        CAPTURE(b[i]);
        CHECK(
            is_close(Functor<op>()(a[i], b[i]), want.data_ptr<T>()[i], term_scale(op, a[i], b[i])));
      }
    }
  });
}

TEST_CASE_TEMPLATE("functions of integers equal the reference's, bit for bit", T, bool, uint8_t,
                   int8_t, int16_t, int32_t, int64_t) {
  const std::vector<T> in = values<T>();
  const Tensor x = tensor_of(in);
  for_each_function<UnaryOp>([&]<UnaryOp op>() {
    if constexpr (maps<op, T>()) {
      Tensor want = empty_like(x);
      reference::unary(want, x, op);
      for (size_t i = 0; i < in.size(); ++i) {
        CAPTURE(std::string(name(op)));
        CHECK(ChosenUnary<T, T>{op}(in[i]) == want.data_ptr<T>()[i]);
      }
    }
  });
}

TEST_CASE_TEMPLATE("predicates equal the reference's", T, bool, int32_t, float, double) {
  const std::vector<T> in = values<T>();
  const Tensor x = tensor_of(in);
  for_each_function<UnaryOp>([&]<UnaryOp op>() {
    if constexpr (row_of(op).result == FunctionRow::Result::boolean) {
      Tensor want = empty(x.sizes(), kBool);
      reference::unary(want, x, op);
      for (size_t i = 0; i < in.size(); ++i) {
        CAPTURE(std::string(name(op)));
        CHECK(Functor<op>()(static_cast<T>(in[i])) == want.data_ptr<bool>()[i]);
        CHECK(ChosenUnary<bool, T>{op}(in[i]) == want.data_ptr<bool>()[i]);
      }
    }
  });
}

TEST_CASE_TEMPLATE(
    "functions of two integers equal the reference's, and division errors are reported", T, bool,
    uint8_t, int8_t, int16_t, int32_t, int64_t) {
  const auto all = pairs<T>();
  for (const BinaryOp op : functions<BinaryOp>()) {
    if (!row_of(op).dtypes.contains(dtype_of<T>)) continue;
    for (size_t i = 0; i < all.first.size(); ++i) {
      const T a = all.first[i], b = all.second[i];
      CAPTURE(std::string(name(op)));
      CAPTURE(+a);
      CAPTURE(+b);
      const Tensor x = tensor_of<T>({a}), y = tensor_of<T>({b});
      Tensor want = zeros({1}, dtype_of<T>);
      std::string error, reported;
      try {
        reference::binary(want, x, y, op);
      } catch (const Error& e) {
        error = e.what();
      }
      Fault fault{};
      const ChosenBinary<T> function{op, FaultSink{&fault, name(op)}};
      const bool refused = function.refuses(a, b);
      REQUIRE(refused == !error.empty());
      if (fault.kind != FaultKind::none) {
        try {
          throw_fault(fault);
        } catch (const Error& e) {
          reported = e.what();
        }
      }
      REQUIRE(reported == error);
      if (!refused) REQUIRE(function(a, b) == *want.data_ptr<T>());
    }
  }
}

TEST_CASE_TEMPLATE("comparisons and logic equal the reference's", T, bool, int8_t, int64_t, float,
                   double) {
  const auto all = pairs<T>();
  const Tensor x = tensor_of(all.first), y = tensor_of(all.second);
  for (const CompareOp op : functions<CompareOp>()) {
    Tensor want = empty(x.sizes(), kBool);
    reference::compare(want, x, y, op);
    for (size_t i = 0; i < all.first.size(); ++i) {
      CAPTURE(std::string(name(op)));
      REQUIRE(ChosenCompare<T>{op}(all.first[i], all.second[i]) == want.data_ptr<bool>()[i]);
    }
  }
}

TEST_CASE("a function refuses a dtype for which it is not defined") {
  CHECK_THROWS_WITH_AS(expect_operand_dtype(UnaryOp::exp, kInt32),
                       "exp: expected a dtype it is defined for, got int32", DTypeError);
  CHECK_THROWS_WITH_AS(expect_operand_dtype(BinaryOp::sub, kBool),
                       "sub: expected a dtype it is defined for, got bool", DTypeError);
  CHECK_NOTHROW(expect_operand_dtype(UnaryOp::isnan, kInt32));
}

TEST_CASE("conversions between all dtypes equal the reference's, also of numbers out of range") {
  for (const DType from : dtypes::kAll) {
    for (const DType to : dtypes::kAll) {
      visit(from, [&]<class X>() {
        visit(to, [&]<class Y>() {
          for (const X x : values<X>()) {
            if (std::is_same_v<X, double> && std::is_same_v<Y, float> &&
                std::fabs(static_cast<double>(x)) > std::numeric_limits<float>::max()) {
              continue;  // the host's cast is undefined there
            }
            Tensor source = empty({1}, dtype_of<X>), want = empty({1}, dtype_of<Y>);
            *source.data_ptr<X>() = x;
            reference::copy(want, source);
            const Y got = arithmetic::convert<Y>(x), expected = *want.data_ptr<Y>();
            CHECK((got == expected || (got != got && expected != expected)));
          }
        });
      });
    }
  }
}

TEST_CASE("the first fault is kept, and an index out of range becomes an IndexError") {
  Fault fault{};
  const FaultSink gather{&fault, "gather"}, later{&fault, "later"};
  gather.report(FaultKind::index, 12, 10);
  later.report(FaultKind::index, -1, 5);
  CHECK_THROWS_WITH_AS(throw_fault(fault), "gather: expected an index in [0, 10), got 12",
                       IndexError);
  Fault target{};
  FaultSink{&target, "nll_loss"}.report(FaultKind::target, -3, 10);
  CHECK_THROWS_WITH_AS(throw_fault(target), "nll_loss: expected a target in [0, 10), got -3",
                       IndexError);
  Fault claim{};
  FaultSink{&claim, "normal: expected std >= 0"}.report(FaultKind::claim, 0, 0);
  CHECK_THROWS_WITH_AS(throw_fault(claim), "normal: expected std >= 0", Error);
}
