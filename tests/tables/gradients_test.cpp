// Every public function in float64: its first and second gradients, compared with finite
// differences. Special properties are tested with the functions; this test makes sure that no
// function is missing.
#include <ambit/ambit.h>
#include <ambit/autograd.h>
#include <ambit/error.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "agreement_calls.h"
#include "agreement_operands.h"
#include "further_calls.h"

using namespace ambit;
using namespace agreement;

namespace {

using Tensors = std::vector<Tensor>;

// Fourth-order differences with step h. The error of the formula is h^4 / 30 = 3e-26 times the
// fifth derivative along the direction, that of rounding 1.5 eps / h = 3e-10 times the value. The
// tolerance 1e-6 has a margin for sums of a thousand elements, and for functions accurate to a
// thousand eps. h is small because the difference is wrong if there is a kink within 2 h.
constexpr double kStep = 1e-6, kTolerance = 1e-6;

// Maps names of functions to the last error of each.
using Names = std::map<std::string, std::string>;

std::set<std::string> words(const char* text) {
  std::istringstream all(text);
  return {std::istream_iterator<std::string>(all), {}};
}

// Functions whose results have no gradient: they are integers, bools, random, or do not depend on
// the operands.
const std::set<std::string> kNoGradient = words(
    "_unique _unique2 all allclose any arange argmax argmin argsort argwhere bartlett_window "
    "bernoulli bincount binomial bitwise_and bitwise_and_ bitwise_left_shift "
    "bitwise_left_shift_ bitwise_not bitwise_not_ bitwise_or bitwise_or_ bitwise_right_shift "
    "bitwise_right_shift_ bitwise_xor bitwise_xor_ blackman_window bucketize can_cast "
    "count_nonzero embedding_renorm_ empty empty_like empty_permuted empty_strided eq eq_ equal "
    "eye fft_fftfreq fft_rfftfreq "
    "from_blob full full_like gcd "
    "gcd_ ge ge_ greater greater_equal gt hamming_window hann_window hash_tensor heaviside histc "
    "histogram "
    "histogramdd isclose isfinite isin isinf isnan isneginf isposinf isreal kaiser_window lcm "
    "lcm_ le less less_equal linalg_matrix_rank linspace logical_and logical_and_ logical_not "
    "logical_or logical_or_ logical_xor logical_xor_ logspace lt multinomial ne ne_ nextafter "
    "nonzero nonzero_numpy nonzero_static normal not_equal one_hot ones ones_like poisson rand "
    "rand_like "
    "randint randint_like randn randn_like randperm range result_type scalar_tensor "
    "searchsorted signbit tensor tril_indices triu_indices unique_consecutive unique_dim "
    "unique_dim_consecutive zeros zeros_like");
// Functions with an operand whose gradient ambit does not compute. The gradient of the other
// operand is checked by the tests of the function.
const std::set<std::string> kUnknown = words(
    "geqrf igamma igamma_ igammac igammac_ linalg_ldl_factor linalg_ldl_factor_ex "
    "linalg_ldl_solve special_zeta");
// Functions with a first gradient, but no second one.
const std::set<std::string> kNoSecond{"ctc_loss"};
// Functions that do not accept float64, or tensors that require grad.
const std::set<std::string> kRefused{"linear_int8", "quantize_rows", "resize_", "resize_as_"};
// Functions for which these differences are wrong: eigh() reads one half of a matrix that it
// assumes to be symmetric, U and V of a full svd() are not unique, and nextafter_() is constant by
// definition.
const std::set<std::string> kOthers{"linalg_eigh", "linalg_svd", "nextafter_"};

// Functions whose rows in the other tables have only integers or bools, or numbers for which the
// result is NaN.
std::vector<Call> calls_of_floats() {
  return {
      RESULT(arccos, arccos(o.unit)),
      RESULT(arccosh, arccosh(o.unit + 1)),
      RESULT(arcsin, arcsin(o.unit)),
      RESULT(arctanh, arctanh(o.unit)),
      RESULT(broadcast_tensors, broadcast_tensors({o.a, o.unit})[0]),
      RESULT(corrcoef, corrcoef(o.a)),
      IN_PLACE(floor_divide_, o.a, 0.7),
      IN_PLACE(fmod_, o.a, 0.7),
      RESULT(linalg_lu_factor_ex, std::get<0>(linalg_lu_factor_ex(o.a))),
      IN_PLACE(masked_fill_, o.a, o.yes, 2),
      RESULT(mode, std::get<0>(mode(o.a))),
      IN_PLACE(remainder_, o.a, 0.7),
      RESULT(to, o.a.to(kCPU, kFloat64, false, true)),
      IN_PLACE(triu_, o.a, 1),
  };
}

void check_same(const char* what, const Names& found, const std::set<std::string>& listed) {
  INFO(std::string(what));
  for (const auto& [name, detail] : found) {
    INFO("found, not listed: ", name, ": ", detail);
    CHECK(listed.contains(name));
  }
  for (const std::string& name : listed) {
    INFO("listed, not found: ", name);
    CHECK(found.contains(name));
  }
}

// A function of the floating-point operands a, b and unit, and of the weights of its results.
struct Point {
  const Call& call;
  Operands operands;
  Tensors x;                           // a, b, unit, then the weights
  std::vector<size_t> differentiable;  // indices of the results that have a gradient

  Tensors results(const Tensors& at) const {
    Operands o = operands;
    o.a = at[0], o.b = at[1], o.unit = at[2];
    manual_seed(3);  // random functions draw the same numbers each time
    return call.run(o);
  }
  Tensor value(const Tensors& at) const {
    const Tensors y = results(at);
    Tensor sum = zeros({}, kFloat64);
    for (size_t i = 0; i < differentiable.size(); ++i) {
      sum = sum + (y[differentiable[i]] * at[3 + i]).sum().to(kFloat64);
    }
    return sum;
  }
  // The gradients along fixed directions, as a function.
  Tensor slope(const Tensors& at, const Tensors& directions) const {
    Tensors wanted;
    for (const Tensor& t : at)
      wanted.push_back(t.requires_grad() ? t : t.detach().requires_grad_());
    const AutoGradMode on(true);
    const Tensors g = autograd::grad({value(wanted)}, wanted, {}, true, true, true);
    Tensor sum = zeros({}, kFloat64);
    for (size_t i = 0; i < g.size(); ++i) {
      if (g[i].defined()) sum = sum + (g[i] * directions[i]).sum();
    }
    return sum;
  }
};

Tensors random_like(const Tensors& x) {
  Tensors all;
  for (const Tensor& t : x) all.push_back(randn(t.sizes(), kFloat64));
  return all;
}

// Return the first gradient that differs from the differences; empty if there is none.
template <class F>
std::string difference(const F& f, const Tensors& x, const Tensors& gradients) {
  for (size_t i = 0; i < x.size(); ++i) {
    const Tensor direction = randn(x[i].sizes(), kFloat64);
    const auto at = [&](double steps) {
      Tensors moved;
      for (const Tensor& t : x) moved.push_back(t.detach());
      moved[i] = moved[i] + direction * (steps * kStep);
      const NoGradGuard no_grad;
      return f(moved).template item<double>();
    };
    const double numeric = (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * kStep);
    const Tensor& g = gradients[i];
    const double value = g.defined() ? (g * direction).sum().template item<double>() : 0;
    if (std::abs(numeric - value) <=
        kTolerance * std::max({1.0, std::abs(numeric), std::abs(at(0))})) {
      continue;
    }
    return "by operand " + std::to_string(i) + ": numeric " + std::to_string(numeric) +
           ", autograd " + std::to_string(value);
  }
  return {};
}

// The findings for the functions, by name.
struct Found {
  Names checked, constant, unknown, once, refused, different;

  void check(const Call& call, const Operands& o) {
    const std::string name = call.function;
    Point p{call, o, {}, {}};
    for (const Tensor& t : {o.a, o.b, o.unit}) p.x.push_back(t.detach().requires_grad_());
    Tensors y;
    try {
      y = p.results(p.x);
    } catch (const Error& e) {
      refused[name] = e.what();
      return;
    }
    for (size_t i = 0; i < y.size(); ++i) {
      if (!y[i].requires_grad() || !isfinite(y[i]).all().item<bool>()) continue;
      p.differentiable.push_back(i);
      p.x.push_back((rand(y[i].sizes(), kFloat64) + 0.5).to(y[i].dtype()).requires_grad_());
    }
    if (p.differentiable.empty()) {
      constant[name] = "no result of any row";
      return;
    }
    Names* lacking = &unknown;
    try {
      const Tensors g = autograd::grad({p.value(p.x)}, p.x, {}, true, true, true);
      note(name, difference([&](const Tensors& at) { return p.value(at); }, p.x, g));
      checked[name] = "";
      lacking = &once;
      const Tensors directions = random_like(p.x);
      const Tensors second = autograd::grad({p.slope(p.x, directions)}, p.x, {}, true, false, true);
      note(name,
           difference([&](const Tensors& at) { return p.slope(at, directions); }, p.x, second));
    } catch (const NotImplementedError& e) {
      (*lacking)[name] = e.what();
    } catch (const Error& e) {
      different[name] = e.what();
    }
  }

  void note(const std::string& name, const std::string& what) {
    if (!what.empty()) different[name] = what;
  }
};

}  // namespace

TEST_CASE("first and second gradients of all functions equal finite differences") {
  Found found;
  const InputLayout rows = layouts()[0], strided = layouts()[1];
  std::vector<Call> calls = CallTable<Call>::all();
  for (Call& call : calls_of_floats()) calls.push_back(std::move(call));
  const Operands normal = draw(rows, kCPU, kFloat64, kFloat64);
  for (const Call& call : calls) found.check(call, normal);
  for (const Call& call : further_calls())
    found.check(call, normal);  // their sizes depend on these
  Operands of_unit = draw(strided, kCPU, kFloat64, kFloat64), above = normal;
  of_unit.a = strided.view(rand(strided.base, kFloat64) * 0.9 + 0.05);
  above.a = rand(rows.base, kFloat64) * 0.9 + 1.05;
  for (const Call& call : calls) {
    found.check(call, of_unit);
    found.check(call, above);
  }
  for (const auto& [name, detail] : found.checked) found.constant.erase(name);
  check_same("without a gradient", found.constant, kNoGradient);
  check_same("without a formula", found.unknown, kUnknown);
  check_same("without a second gradient", found.once, kNoSecond);
  check_same("refused", found.refused, kRefused);
  check_same("other than differences", found.different, kOthers);
}
